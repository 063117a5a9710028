import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cboc import CbocError, Ledger, Study
from cboc.consensus import is_doubly_stochastic
from cboc.exchange.ledger import RoundClosed
from cboc.exchange.messages import Design, Proposal

SPACE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}


def study(sites=("x", "y", "z"), horizon=4, **options):
    return Study(SPACE, sites, horizon, **options)


def propose(ledger, site, round=0, x=(0.5, 0.5), reward=None):
    ledger.submit(Proposal(site, round, x, reward))


def test_a_round_closes_with_the_last_proposal_and_not_before():
    ledger = Ledger(study())
    propose(ledger, "x", x=(0.0, 0.0))
    propose(ledger, "y", x=(0.3, 0.6))
    assert ledger.design("x", 0) is None and ledger.missing() == ["z"]
    propose(ledger, "z", x=(0.6, 0.0))
    assert ledger.current == 1
    assert ledger.design("x", 0).x == pytest.approx((0.3, 0.2))
    assert ledger.design("x", 0).weights == pytest.approx((1 / 3, 1 / 3, 1 / 3), abs=1e-8)


def test_the_same_proposal_again_is_fine_and_another_one_is_not():
    ledger = Ledger(study())
    propose(ledger, "x")
    propose(ledger, "x")
    with pytest.raises(CbocError, match="a proposal is final"):
        propose(ledger, "x", x=(0.1, 0.1))


def test_a_deadline_closes_the_round_without_the_missing_and_the_matrix_stays_doubly_stochastic():
    ledger = Ledger(study(quorum=2))
    propose(ledger, "x", x=(0.0, 0.0))
    with pytest.raises(CbocError, match="needs 2 sites to close; 1 are in"):
        ledger.close()
    propose(ledger, "z", x=(1.0, 1.0))
    ledger.close()
    W = ledger.matrix(0)
    assert is_doubly_stochastic(W)
    np.testing.assert_allclose(W, [[2 / 3, 0, 1 / 3], [0, 1, 0], [1 / 3, 0, 2 / 3]])
    assert ledger.design("x", 0).x == pytest.approx((1 / 3, 1 / 3))


def test_a_late_proposal_is_told_which_round_is_open():
    ledger = Ledger(study(quorum=1))
    propose(ledger, "x")
    ledger.close()
    with pytest.raises(RoundClosed, match="round 0 is closed for site 'y'; round 1 is open") as late:
        propose(ledger, "y", 0)
    assert late.value.current == 1
    propose(ledger, "y", 1)


def test_a_leaver_is_not_waited_for_and_its_proposal_stays():
    ledger = Ledger(study())
    propose(ledger, "x")
    propose(ledger, "y")
    ledger.leave("x")
    ledger.leave("z")
    assert ledger.current == 1
    assert ledger.known(0).present.tolist() == [True, True, False]
    propose(ledger, "y", 1)
    assert ledger.current == 2


def test_unequal_budgets_end_each_in_its_own_time():
    ledger = Ledger(study(("x", "y"), horizon=3, budgets={"x": 1}))
    for site in ("x", "y"):
        propose(ledger, site)
    assert ledger.expected() == ["y"]
    with pytest.raises(CbocError, match="has used its budget of 1"):
        propose(ledger, "x", 1)
    propose(ledger, "y", 1)
    propose(ledger, "y", 2)
    assert ledger.expected() == []
    np.testing.assert_array_equal(ledger.matrix(2), np.eye(2))


def test_a_ring_only_mixes_neighbours():
    ledger = Ledger(study(("p", "q", "r", "s"), graph="ring"))
    for k, site in enumerate("pqrs"):
        propose(ledger, site, x=(k / 10, 0.0))
    W = ledger.matrix(0)
    assert W[0, 2] == 0 and W[1, 3] == 0 and is_doubly_stochastic(W)


def test_the_leader_is_named_and_rewards_are_required():
    ledger = Ledger(study(rule="leader"))
    with pytest.raises(CbocError, match="compares rewards; site 'x' sent none"):
        propose(ledger, "x")
    for site, reward in (("x", 1.0), ("y", 5.0), ("z", 4.0)):
        propose(ledger, site, reward=reward)
    assert ledger.design("x", 0).leader == "y"


def test_a_rule_of_the_users_is_checked():
    ledger = Ledger(study(rule=lambda round: np.full((round.sites, round.sites), 0.5)))
    for site in "xyz":
        propose(ledger, site)
    with pytest.raises(CbocError, match="row 0 sums to 1.5"):
        ledger.design("x", 0)


@pytest.mark.parametrize(
    ("proposal", "complaint"),
    [
        (("nobody", 0, (0.5, 0.5)), "'nobody' is no site"),
        (("x", 0, (0.5,)), "have 2 coordinates; site 'x' sent 1"),
        (("x", 3, (0.5, 0.5)), "round 3 is not open yet for site 'x'; round 0 is open now"),
    ],
)
def test_a_wrong_proposal_is_refused_in_one_sentence(proposal, complaint):
    with pytest.raises(CbocError, match=complaint):
        Ledger(study()).submit(Proposal(*proposal))


def test_a_reward_that_no_rule_asks_for_is_refused():
    with pytest.raises(CbocError, match="the rule of study 'study' asks for no rewards; site 'x' sent one"):
        propose(Ledger(study()), "x", reward=1.0)


@pytest.mark.parametrize("bad", [1.7, -0.1, float("nan"), float("inf")])
def test_a_design_outside_the_cube_is_refused(bad):
    with pytest.raises(CbocError, match=r"unit cube; site 'x' sent x\[1\] = .* Did you forget space.to_unit"):
        Proposal("x", 0, (0.5, bad))


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_reward_is_finite(bad):
    with pytest.raises(CbocError, match="a reward is a finite number"):
        Proposal("x", 0, (0.5,), bad)


def test_messages_have_no_place_for_an_outcome():
    assert set(Proposal.__dataclass_fields__) == {"site", "round", "x", "reward", "best"}
    assert set(Design.__dataclass_fields__) == {"site", "round", "x", "weights", "leader", "others"}


def test_best_designs_go_to_those_who_may_hear_them():
    sites = ("a", "b", "c", "d")
    ring = Study(SPACE, sites, 3, graph=[("a", "b"), ("b", "c"), ("c", "d")], shares_best=True)
    ledger = Ledger(ring)
    bests = {"a": (0.1, 0.1), "b": (0.2, 0.2), "c": None, "d": (0.4, 0.4)}
    for site in ("d", "b", "a", "c"):
        ledger.submit(Proposal(site, 0, (0.5, 0.5), best=bests[site]))
    assert {site: len(ledger.design(site, 0).others) for site in sites} == {"a": 1, "b": 1, "c": 2, "d": 0}
    assert ledger.design("c", 0).others == (Proposal("b", 0, bests["b"]).x, Proposal("d", 0, bests["d"]).x)
    with pytest.raises(CbocError, match="have 2 coordinates; site 'a' sent 1"):
        ledger.submit(Proposal("a", 1, (0.5, 0.5), best=(0.5,)))
    with pytest.raises(CbocError, match=r"site 'a' sent best\[0\] = 2"):
        Proposal("a", 1, (0.5, 0.5), best=(2.0, 0.5))


def test_of_very_many_others_a_site_hears_some_by_turns():
    names = tuple(f"s{k}" for k in range(100))
    ledger = Ledger(study(names, horizon=4))
    for round in range(4):
        for k, name in enumerate(names):
            ledger.submit(Proposal(name, round, (0.5, 0.5), best=(k / 128, 0.25)))
    heard = [{x[0] * 128 for x in ledger.design("s0", round).others} for round in range(4)]
    assert all(20 <= len(some) <= 32 for some in heard)
    assert set.union(*heard) == set(range(1, 100)) and not heard[0] & heard[1]


def test_a_best_design_that_nobody_asked_for_is_refused():
    with pytest.raises(CbocError, match="does not share best designs; site 'a' sent one"):
        Ledger(study(("a", "b"), shares_best=False)).submit(Proposal("a", 0, (0.5, 0.5), best=(0.5, 0.5)))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_order_of_arrival_gives_the_same_designs(data):
    sites = [f"s{k}" for k in range(data.draw(st.integers(1, 5)))]
    rounds = data.draw(st.integers(1, 4))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    xs, rewards = rng.random((rounds, len(sites), 2)), rng.random((rounds, len(sites)))

    def run(orders):
        ledger = Ledger(study(sites, rounds, rule="leader"))
        for t, order in enumerate(orders):
            for k in order:
                propose(ledger, sites[k], t, tuple(xs[t, k]), float(rewards[t, k]))
        return [ledger.design(site, t) for t in range(rounds) for site in sites]

    straight = run([range(len(sites))] * rounds)
    shuffled = run([data.draw(st.permutations(range(len(sites)))) for _ in range(rounds)])
    assert straight == shuffled
