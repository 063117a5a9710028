import numpy as np
import pytest
from scipy.stats import spearmanr

from cboc.data.dataset import Dataset
from cboc.errors import CbocError
from cboc.space.space import Space
from cboc.strategy.guide.decision import UNDRAWN, Counsel, Guide, consistency, rank_correlation
from cboc.strategy.guide.density import fit_density
from cboc.strategy.guide.drawn_utility import Drawn
from cboc.strategy.situation import Situation
from cboc.strategy.verdict import Stance
from cboc.surrogate.fitting import fit
from cboc.utility.confidence import UCB
from cboc.utility.improvement import EI, PI, LogEI
from cboc.utility.knowledge import KnowledgeGradient
from cboc.utility.noisy import NoisyEI
from cboc.utility.thompson import Thompson
from cboc.utility.utility import Custom

SPACE = Space({"a": (0.0, 1.0), "b": (0.0, 1.0)})


def rng(seed=0):
    return np.random.default_rng(seed)


def hill(centre, n=20, seed=0):
    """A site whose outcomes are best at a place."""
    X = rng(seed).random((n, 2))
    return Dataset(X, -((X - centre) ** 2).sum(axis=1), direction="maximise")


def around(centre, count=5, spread=0.1):
    return np.clip(centre + spread * rng(9).standard_normal((count, 2)), 0.0, 1.0)


def ask(guide=None, data=None, others=None, progress=0.0, kind=LogEI.on):
    data = hill(0.5) if data is None else data
    utility = kind(fit(data.X, data.score), rng())
    situation = Situation(data, SPACE, others=around(0.5) if others is None else others, progress=progress)
    return utility, (guide or Guide())(utility, situation)


def test_where_best_designs_lie_together_and_the_own_outcomes_agree_a_site_is_drawn():
    utility, counsel = ask()
    assert counsel.stance is Stance.TOGETHER and counsel.log_odds > 2.0 and counsel.consistency > 0.5
    assert isinstance(counsel.utility, Drawn) and counsel.utility.base is utility and not counsel.reason


@pytest.mark.parametrize(
    ("guide", "others"),
    [(Guide(), rng(7).random((5, 2))), (Guide(), np.empty((0, 2))), (Guide(least=1e9), around(0.5))],
)
def test_without_good_odds_a_site_is_in_doubt(guide, others):
    utility, counsel = ask(guide, others=others)
    assert counsel.stance is Stance.DOUBT and counsel.keeps == 0.5 and counsel.utility is utility
    assert counsel.log_odds is None if not len(others) else counsel.log_odds < guide.least


def test_who_wants_no_mix_in_doubt_works_alone():
    for doubt in (1.1, float("inf")):
        _, counsel = ask(Guide(doubt=doubt), others=rng(7).random((5, 2)))
        assert counsel.stance is Stance.ALONE and counsel.reason.startswith("there is too little evidence")
    assert Counsel(counsel.utility).stance is Stance.TOGETHER


def test_who_follows_in_doubt_whatever_it_costs_is_together():
    _, counsel = ask(Guide(doubt=0.0), others=rng(7).random((5, 2)))
    assert counsel.stance is Stance.TOGETHER and counsel.keeps == 0.0


def test_a_site_without_outcomes_is_alone():
    counsel = Guide()(None, Situation(Dataset.empty(2).with_failure([0.5, 0.5]), SPACE, others=around(0.5)))
    assert counsel.stance is Stance.ALONE and counsel.reason == "you have no outcome yet"


@pytest.mark.parametrize("keeps", [-0.1, 1.1, float("nan")])
def test_a_counsel_refuses_a_share_that_is_none(keeps):
    with pytest.raises(CbocError, match="a counsel's keeps is a share"):
        Counsel(ask()[0], Stance.DOUBT, keeps)


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ({"log_odds": float("nan")}, "log_odds is a number, or None if unknown; this is nan"),
        ({"log_odds": float("inf")}, "log_odds is a number"),
        ({"log_odds": "x"}, "this is 'x'"),
        ({"consistency": float("inf")}, "consistency is a number, or None if unknown; this is inf"),
        ({"consistency": float("nan")}, "this is nan"),
        ({"stance": "together"}, "a counsel's stance is one of Stance; this is 'together'"),
        ({"reason": None}, "reason is a string; this is None"),
    ],
)
def test_a_counsel_says_nothing_that_no_journal_could_keep(said, complaint):
    with pytest.raises(CbocError, match=complaint):
        Counsel(ask()[0], **said)


def test_an_outlier_sees_the_odds_of_the_others_and_contradicts_them():
    data = hill(np.array([0.1, 0.9]), n=60)
    utility, counsel = ask(data=data, others=around(np.array([0.8, 0.2]), 9))
    assert counsel.log_odds > 4.0 and counsel.consistency < 0.0
    assert counsel.stance is Stance.ALONE and counsel.utility is utility
    lenient = ask(Guide(consistency=-1.0), data, around(np.array([0.8, 0.2]), 9))[1]
    assert lenient.stance is Stance.TOGETHER


def test_experiments_that_fail_where_the_others_are_contradict_them():
    """Nothing but failures there, and outcomes of any kind elsewhere."""
    far = Dataset(0.2 * rng().random((20, 2)), rng(1).random(20), direction="maximise")
    others = around(0.8, 9, 0.03)
    for x in others[:5]:
        far = far.with_failure(x)
    assert ask(data=far, others=others)[1].stance is Stance.ALONE


def test_who_has_not_been_where_the_others_are_has_nothing_to_contradict():
    far = Dataset(0.2 * rng().random((20, 2)), rng(1).random(20), direction="maximise")
    _, counsel = ask(data=far, others=around(0.9, 9))
    assert counsel.stance is Stance.TOGETHER and counsel.consistency is None


@pytest.mark.parametrize("direction", ["maximise", "minimise"])
def test_consistency_knows_the_direction(direction):
    X = rng().random((40, 2))
    distance = ((X - 0.5) ** 2).sum(axis=1)
    data = Dataset(X, distance if direction == "minimise" else -distance, direction=direction)
    Z = around(0.5, 6)
    assert consistency(fit_density(Z[0], Z[1:]), data) > 0.5


def test_a_site_may_share_without_being_drawn():
    utility, counsel = ask(Guide(0.0))
    assert counsel.stance is Stance.TOGETHER and counsel.utility is utility and not counsel.reason


@pytest.mark.parametrize("kind", [LogEI.on, NoisyEI.on], ids=["log_ei", "noisy_ei"])
def test_logarithms_are_drawn(kind):
    utility, counsel = ask(kind=kind)
    assert isinstance(counsel.utility, Drawn) and counsel.utility.base is utility and not counsel.reason


NO_LOGARITHMS = {
    "ei": EI.on,
    "pi": PI.on,
    "ucb": UCB.on,
    "thompson": Thompson.on,
    "knowledge_gradient": KnowledgeGradient.on,
    "custom": lambda gp, _: Custom(lambda X: gp.moments(X)[1], anchors=gp.X),
}


@pytest.mark.parametrize("kind", NO_LOGARITHMS.values(), ids=NO_LOGARITHMS)
def test_what_is_no_logarithm_is_not_drawn_and_the_guide_says_why(kind):
    utility, counsel = ask(kind=kind)
    assert counsel.stance is Stance.TOGETHER and counsel.utility is utility
    assert counsel.reason == UNDRAWN and "is not a logarithm" in UNDRAWN


def test_an_opinion_without_a_utility_is_not_drawn_either():
    counsel = Guide()(None, Situation(hill(0.5), SPACE, others=around(0.5)))
    assert counsel == Counsel(None, reason=UNDRAWN, log_odds=counsel.log_odds, consistency=counsel.consistency)


def test_only_what_all_sites_have_is_compared():
    """A parameter of the site's own makes no difference to what the others' best designs say."""
    data = hill(0.5)
    more = Dataset(np.hstack([data.X, rng(3).random((len(data), 1))]), data.y, direction="maximise")
    own = Situation(more, SPACE + Space({"c": (0.0, 1.0)}), others=around(0.5), shared=SPACE)
    _, plain = ask(data=data)
    counsel = Guide()(LogEI(fit(more.X, more.score)), own)
    assert (counsel.log_odds, counsel.consistency) == (plain.log_odds, plain.consistency)
    assert counsel.utility.where.centres.shape == (5, 2)


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
        {"consistency": -2.0},
        {"doubt": -0.5},
        {"hope": -0.1},
        {"hope": None},
        {"hope": 0.5, "patience": 0.0},  # without effect
        {"hope": 0.5, "doubt": 2.0},
        {"patience": 5.0, "doubt": 2.0},
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
