"use strict";
(function () {
  var root = document.documentElement;
  var toggle = document.getElementById("theme");
  var prefersDark = window.matchMedia("(prefers-color-scheme: dark)");

  function isDark() {
    var chosen = root.getAttribute("data-theme");
    return chosen ? chosen === "dark" : prefersDark.matches;
  }
  function nameToggle() {
    toggle.textContent = isDark() ? "Light page" : "Dark page";
  }
  toggle.addEventListener("click", function () {
    root.setAttribute("data-theme", isDark() ? "light" : "dark");
    nameToggle();
  });
  prefersDark.addEventListener("change", nameToggle);
  nameToggle();

  // what is one click away on the screen cannot be clicked on paper
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (part) { part.open = true; });
  });

  var source = document.getElementById("threshold-table");
  if (!source) { return; }
  var table = JSON.parse(source.textContent);
  var slider = document.getElementById("threshold");
  var marker = document.getElementById("threshold-marker");

  function put(id, text) { document.getElementById(id).textContent = text; }
  function percent(value) {
    if (value === null) { return "–"; }
    var hundredth = 100 * value;
    var digits = hundredth === 0 || (hundredth >= 10 && hundredth < 99) || hundredth >= 99.95 ? 0 : hundredth >= 0.095 ? 1 : 2;
    var scale = Math.pow(10, digits);
    return (Math.floor(hundredth * scale + 0.5) / scale).toFixed(digits) + " %";
  }
  function count(value) {
    return value === null ? "–" : Math.round(value).toLocaleString("en-GB");
  }
  function range(low, high, words) {
    return low === null || high === null ? "" : "between " + words(low) + " and " + words(high);
  }
  function show() {
    var k = Number(slider.value);
    var threshold = table.threshold[k];
    put("threshold-value", String(threshold));
    put("list-size", count(table.size[k]));
    put("precision", percent(table.precision[k]));
    put("precision-range", range(table.precision_low[k], table.precision_high[k], percent));
    put("recall", percent(table.recall[k]));
    put("recall-range", range(table.recall_low[k], table.recall_high[k], percent));
    put("found", count(table.found[k]));
    put("found-range", range(table.found_low[k], table.found_high[k], count));
    slider.setAttribute("aria-valuetext", "threshold " + threshold + ", " + count(table.size[k]) + " rows");
    if (marker) {
      var left = Number(marker.dataset.left), right = Number(marker.dataset.right);
      var low = Number(marker.dataset.low), high = Number(marker.dataset.high);
      marker.style.left = 100 * (left + (right - left) * (threshold - low) / (high - low)) + "%";
    }
  }
  slider.addEventListener("input", show);
  show();
})();
