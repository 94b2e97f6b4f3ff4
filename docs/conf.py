"""Sphinx settings. The build needs no network, and neither does reading the pages."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
sys.path.insert(0, str(HERE.parent / "src"))

import purely  # noqa: E402

project = "purely"
author = "The purely developers"
copyright = author
release = purely.__version__
version = release.split("+")[0]
language = "en"

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "markdown_include",
    "public_members",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "Thumbs.db", ".DS_Store", "auto_examples/**/*.md5", "sg_execution_times.rst"]
html_math_renderer = "mathml"
math_eqref_format = "({number})"

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's parameter lists say it in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the class template lists them
default_role = None
toc_object_entries_show_parents = "hide"  # names of methods are cut in the margin otherwise

html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["purely.css"]
html_favicon = "_static/favicon.svg"
html_title = "purely"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "purely"},
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": False,
    "navigation_with_keys": False,
    "show_toc_level": 2,
}
html_sidebars = {
    page: []
    for page in (
        "index",
        "start",
        "choose",
        "concepts",
        "evaluation",
        "report",
        "reproduction",
        "speed",
        "datasets",
        "cli",
        "audit",
        "scale",
        "beside_others",
        "results",
        "persistence",
        "security",
        "versions",
        "since_0_1",
        "contributing",
        "changelog",
    )
}

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["auto_examples"],
    "subsection_order": [
        "../examples/tutorials",
        "../examples/information",
        "../examples/representation",
        "../examples/prior",
        "../examples/classification",
        "../examples/evaluation",
        "../examples/plotting",
        "../examples/datasets",
        "*",
    ],
    "within_subsection_order": "FileNameSortKey",
    # Tutorials read real data: without them at hand they are shown, not run.
    "filename_pattern": r"/(plot|tutorial)_" if os.environ.get("PURELY_DATA") else r"/plot_",
    "backreferences_dir": "auto_examples/backreferences",
    "doc_module": ("purely",),
    "reference_url": {"purely": None},
    "reset_modules": ("matplotlib", "gallery_style.reset"),
    "image_srcset": ["2x"],
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "write_computation_times": False,
    "min_reported_time": 5,
    "only_warn_on_example_error": False,
}
