import numpy as np
import pytest
from scipy.stats import spearmanr

from cboc.data.dataset import Dataset
from cboc.errors import CbocError
from cboc.space.space import Space
from cboc.strategy.guide.density import fit_density
from cboc.strategy.guide.guide import ALONE, TOGETHER, Counsel, Guide, agree, rank_correlation
from cboc.strategy.guide.guided import Guided
from cboc.surrogate.fitting import fit
from cboc.utility.confidence import UCB
from cboc.utility.improvement import EI, LogEI

SPACE = Space({"a": (0.0, 1.0), "b": (0.0, 1.0)})


def rng(seed=0):
    return np.random.default_rng(seed)


def hill(centre, n=20, seed=0):
    """A site whose outcomes are best at a place."""
    X = rng(seed).random((n, 2))
    return Dataset(X, -((X - centre) ** 2).sum(axis=1), direction="maximise")


def around(centre, count=5, spread=0.1):
    return np.clip(centre + spread * rng(9).standard_normal((count, 2)), 0.0, 1.0)


def ask(guide=None, data=None, others=None, progress=0.0, kind=LogEI):
    data = hill(0.5) if data is None else data
    utility = kind(fit(data.X, data.score))
    return utility, (guide or Guide())(utility, data, around(0.5) if others is None else others, progress, SPACE)


def test_where_best_designs_lie_together_and_the_own_outcomes_agree_a_site_is_drawn():
    utility, counsel = ask()
    assert counsel.keeps == TOGETHER and counsel.evidence > 2.0 and counsel.agreement > 0.5
    assert isinstance(counsel.utility, Guided) and counsel.utility.base is utility


@pytest.mark.parametrize(
    ("guide", "others"),
    [(Guide(), rng(7).random((5, 2))), (Guide(), np.empty((0, 2))), (Guide(least=1e9), around(0.5))],
)
def test_without_evidence_a_site_is_in_doubt(guide, others):
    utility, counsel = ask(guide, others=others)
    assert counsel.is_in_doubt and counsel.keeps == 0.5 and counsel.utility is utility
    assert counsel.evidence is None if not len(others) else counsel.evidence < guide.least


def test_who_wants_no_mix_in_doubt_works_alone():
    _, counsel = ask(Guide(doubt=ALONE), others=rng(7).random((5, 2)))
    assert counsel.is_alone and not counsel.is_in_doubt
    assert Counsel(counsel.utility, 1.1).is_alone and not Counsel(counsel.utility).is_alone


@pytest.mark.parametrize("keeps", [-0.1, float("nan")])
def test_a_counsel_refuses_a_share_that_is_none(keeps):
    with pytest.raises(CbocError, match="a counsel's keeps is a share"):
        Counsel(ask()[0], keeps)


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ({"evidence": float("nan")}, "evidence is a number of nats, or None; this is nan"),
        ({"evidence": float("inf")}, "evidence is a number of nats"),
        ({"evidence": "x"}, "this is 'x'"),
        ({"agreement": float("inf")}, "agreement is a number, or NaN where there is none; this is inf"),
        ({"agreement": None}, "this is None"),
        ({"reason": None}, "reason is words; this is None"),
    ],
)
def test_a_counsel_says_nothing_that_no_journal_could_keep(said, complaint):
    with pytest.raises(CbocError, match=complaint):
        Counsel(ask()[0], **said)


def test_an_outlier_sees_the_evidence_of_the_others_and_contradicts_it():
    data = hill(np.array([0.1, 0.9]), n=60)
    utility, counsel = ask(data=data, others=around(np.array([0.8, 0.2]), 9))
    assert counsel.evidence > 4.0 and counsel.agreement < 0.0
    assert counsel.is_alone and counsel.utility is utility
    assert ask(Guide(agreement=-1.0), data, around(np.array([0.8, 0.2]), 9))[1].keeps == TOGETHER


def test_experiments_that_fail_where_the_others_are_contradict_them():
    """Nothing but failures there, and outcomes of any kind elsewhere."""
    far = Dataset(0.2 * rng().random((20, 2)), rng(1).random(20), direction="maximise")
    others = around(0.8, 9, 0.03)
    for x in others[:5]:
        far = far.with_failure(x)
    assert ask(data=far, others=others)[1].is_alone


def test_who_has_not_been_where_the_others_are_has_nothing_to_contradict():
    far = Dataset(0.2 * rng().random((20, 2)), rng(1).random(20), direction="maximise")
    _, counsel = ask(data=far, others=around(0.9, 9))
    assert counsel.keeps == TOGETHER and np.isnan(counsel.agreement)


@pytest.mark.parametrize("direction", ["maximise", "minimise"])
def test_agreement_knows_the_direction(direction):
    X = rng().random((40, 2))
    distance = ((X - 0.5) ** 2).sum(axis=1)
    data = Dataset(X, distance if direction == "minimise" else -distance, direction=direction)
    Z = around(0.5, 6)
    assert agree(fit_density(Z[0], Z[1:]), data) > 0.5


@pytest.mark.parametrize(("weight", "kind"), [(0.0, LogEI), (1.0, EI), (1.0, UCB)])  # the last two are no logarithms
def test_a_site_may_share_without_being_drawn(weight, kind):
    utility, counsel = ask(Guide(weight), kind=kind)
    assert counsel.keeps == TOGETHER and counsel.utility is utility


def test_the_weight_fades():
    weights = [ask(Guide(fade=0.1), progress=progress)[1].utility.weight for progress in (0.0, 0.1, 0.9)]
    assert weights == pytest.approx([1.0, 0.5, 0.1])


@pytest.mark.parametrize(
    "settings",
    [
        {"weight": -1.0},
        {"weight": float("nan")},
        {"fade": 0.0},
        {"most": 0},
        {"least": "a"},
        {"agreement": -2.0},
        {"doubt": -0.5},
    ],
)
def test_a_guide_refuses_what_makes_no_sense(settings):
    with pytest.raises(CbocError, match="a guide's"):
        Guide(**settings)


@pytest.mark.parametrize("seed", range(5))
def test_the_rank_correlation_is_spearmans(seed):
    a, b = rng(seed).integers(0, 8, (2, 30)).astype(float)
    assert rank_correlation(a, b) == pytest.approx(spearmanr(a, b).statistic)
    assert rank_correlation(a, np.zeros(30)) == 0.0 and rank_correlation(a, np.exp(a)) == pytest.approx(1.0)
