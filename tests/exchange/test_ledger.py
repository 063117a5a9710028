import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cboc import CbocError, Ledger, Study, Waiting
from cboc.consensus import is_doubly_stochastic
from cboc.exchange import wire
from cboc.exchange.messages import MOST_BESTS, MOST_OTHERS, Proposal
from cboc.exchange.network import Conflict, Standing

SPACE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}
RULES = st.sampled_from(["uniform", "metropolis", "leader", [[0.0, 0.5, 0.5], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]])


def study(sites=("x", "y", "z"), horizon=4, **options):
    return Study(SPACE, sites, horizon, **({"pace": "rounds"} | options))


def propose(ledger, site, turn=0, x=(0.5, 0.5), reward=None):
    ledger.submit(Proposal(site, turn, [x], reward=reward))


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


def test_a_round_closes_with_the_last_proposal_and_not_before():
    ledger = Ledger(study())
    propose(ledger, "x", x=(0.0, 0.0))
    propose(ledger, "y", x=(0.3, 0.6))
    with pytest.raises(Waiting) as waiting:
        ledger.mix("x", 0)
    assert waiting.value.standing == Standing(0, ("z",)) and ledger.missing() == ["z"]
    propose(ledger, "z", x=(0.6, 0.0))
    assert ledger.round == 1
    assert ledger.mix("x", 0).X[0] == pytest.approx((0.3, 0.2))
    assert ledger.mix("x", 0).weights == pytest.approx((1 / 3, 1 / 3, 1 / 3), abs=1e-8)


def test_the_same_proposal_again_is_fine_and_another_one_is_not():
    ledger = Ledger(study())
    propose(ledger, "x")
    propose(ledger, "x")
    with pytest.raises(Conflict, match="a proposal is final"):
        propose(ledger, "x", x=(0.1, 0.1))


def test_without_the_missing_the_matrix_stays_doubly_stochastic():
    ledger = Ledger(study(quorum=2))
    propose(ledger, "x", x=(0.0, 0.0))
    with pytest.raises(CbocError, match="needs 2 sites to close; 1 are in"):
        ledger.close()
    propose(ledger, "z", x=(1.0, 1.0))
    ledger.close()
    W = ledger.matrix(0)
    assert is_doubly_stochastic(W)
    np.testing.assert_allclose(W, [[2 / 3, 0, 1 / 3], [0, 1, 0], [1 / 3, 0, 2 / 3]])
    assert ledger.mix("x", 0).X[0] == pytest.approx((1 / 3, 1 / 3))


def test_a_deadline_runs_from_the_first_proposal_of_a_round():
    clock = Clock()
    ledger = Ledger(study(deadline=60.0), clock=clock)
    assert ledger.closes_at is None and not ledger.is_due
    clock.now = 1500.0
    propose(ledger, "x")
    clock.now = 1559.9
    propose(ledger, "y")  # moves nothing
    assert ledger.closes_at == 1560.0 and not ledger.is_due
    clock.now = 1560.0
    assert ledger.is_due and ledger.round == 0  # it closes when somebody asks
    assert ledger.standing() == Standing(1, ("x", "y", "z")) and ledger.closes_at is None
    assert ledger.snapshot(0).present.tolist() == [True, True, False]


def test_a_round_that_has_begun_in_the_future_begins_now():
    clock = Clock()
    clock.now = 1e9  # far ahead, until somebody sets it
    ledger = Ledger(study(deadline=600.0), clock=clock)
    propose(ledger, "x")
    clock.now = 1e9 - 59.0  # this much may be between two processes
    assert not ledger.is_ahead and ledger.standing().closes_at == 1e9 + 600.0
    clock.now = 1000.0
    assert ledger.is_ahead and ledger.standing() == Standing(0, ("y", "z"), 1600.0)
    assert not ledger.is_ahead
    clock.now = 1600.0
    assert ledger.standing().round == 1


@pytest.mark.parametrize("quorum", [2, 3])
def test_a_deadline_does_nothing_without_the_quorum(quorum):
    clock = Clock()
    ledger = Ledger(study(deadline=60.0, quorum=quorum), clock=clock)
    propose(ledger, "x")
    clock.now += 1e6
    assert ledger.standing() == Standing(0, ("y", "z"), 1060.0) and not ledger.is_due
    propose(ledger, "y")
    assert ledger.is_due == (quorum == 2)


def test_without_a_deadline_nothing_is_ever_due():
    clock = Clock()
    ledger = Ledger(study(), clock=clock)
    propose(ledger, "x")
    clock.now += 1e9
    assert ledger.standing() == Standing(0, ("y", "z")) and not ledger.is_due


def test_a_late_proposal_is_in_the_next_round():
    ledger = Ledger(study(quorum=1))
    propose(ledger, "x")
    ledger.close()
    propose(ledger, "y", 0)  # its own first turn
    assert ledger.missing() == ["x", "z"] and list(ledger.store.entries(1)) == ["y"]
    propose(ledger, "x", 1)
    ledger.close()
    late = ledger.mix("y", 0)
    assert (late.turn, late.snapshot) == (0, 1) and ledger.mix("x", 1).snapshot == 1
    assert ledger.snapshot(1).turns.tolist() == [1, 0, 0]  # y has had no round before


def test_the_next_turn_of_a_site_is_the_first_after_all_that_it_has_taken():
    ledger = Ledger(study())
    assert ledger.progress("x") == (0, 0)
    propose(ledger, "x", 4)
    assert (ledger.progress("x"), ledger.progress("y")) == ((5, 1), (0, 0))


def test_who_missed_rounds_is_less_far_along():
    """Of six rounds y misses three: 5 of 10 turns are behind x, 2 of 10 behind y."""
    ledger = Ledger(study(("x", "y"), horizon=10))
    turn = 0
    for round in range(6):
        propose(ledger, "x", round)
        if round in (2, 3, 4):
            ledger.close()
        else:
            propose(ledger, "y", turn)
            turn += 1
    np.testing.assert_allclose(ledger.snapshot(5).progress, [0.5, 0.2])
    assert ledger.mix("y", 2).snapshot == 5


def test_a_leaver_is_not_waited_for_and_its_proposal_stays():
    ledger = Ledger(study())
    propose(ledger, "x")
    propose(ledger, "y")
    ledger.leave("x")
    ledger.leave("z")
    assert ledger.round == 1
    assert ledger.snapshot(0).present.tolist() == [True, True, False]
    propose(ledger, "y", 1)
    assert ledger.round == 2


@pytest.mark.parametrize("rule", ["uniform", "leader", [[0.0, 0.5, 0.5], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]])
def test_who_was_away_is_waited_for_again_and_its_weight_was_on_the_diagonals(rule):
    agreed = study(rule=rule)
    ledger = Ledger(agreed)

    def go(sites, turns, u):
        for site in sites:
            reward = u if agreed.needs_rewards else None
            propose(ledger, site, turns[site], x=(u, ord(site) / 128), reward=reward)

    go("xyz", {"x": 0, "y": 0, "z": 0}, 0.25)
    ledger.leave("z")
    go("xy", {"x": 1, "y": 1}, 0.5)
    ledger.come_back("z")
    ledger.come_back("z")  # the same again is fine
    assert ledger.missing() == ["x", "y", "z"]
    go("xyz", {"x": 2, "y": 2, "z": 1}, 0.75)
    assert ledger.round == 3 and ledger.store.departures == 2
    W = [ledger.matrix(state) for state in range(3)]
    assert all(map(is_doubly_stochastic, W))
    assert W[1][2].tolist() == [0.0, 0.0, 1.0] and W[1].sum(axis=1).tolist() == [1.0, 1.0, 1.0]
    assert [ledger.snapshot(state).turns.tolist() for state in range(3)] == [[0, 0, 0], [1, 1, 0], [2, 2, 1]]
    again = Ledger(agreed)
    states = [list(ledger.store.entries(state).values()) for state in range(3)]
    again.go_on_from(states, (), ())
    for site, turn in [*((site, turn) for site in "xy" for turn in range(3)), ("z", 0), ("z", 1)]:
        assert again.mix(site, turn) == ledger.mix(site, turn)


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
    assert ledger.mix("x", 0).leader == "y"


def test_a_rule_of_the_users_is_checked():
    ledger = Ledger(study(rule=lambda snapshot: np.full((snapshot.sites, snapshot.sites), 0.5)))
    for site in "xyz":
        propose(ledger, site)
    with pytest.raises(CbocError, match="row 0 sums to 1.5"):
        ledger.mix("x", 0)


def test_a_rule_sees_designs_and_best_designs_of_this_round_and_designs_of_earlier_ones():
    seen = []

    def watch(snapshot):
        seen.append(snapshot)
        return np.eye(snapshot.sites)

    ledger = Ledger(study(("x", "y"), rule=watch))
    for turn, value in enumerate((0.25, 0.75)):
        ledger.submit(Proposal("x", turn, [(value, 0.5)], [(0.125, value)]))
        ledger.submit(Proposal("y", turn, [(0.5, value)]))
    ledger.mix("x", 1)
    nothing = [np.nan, np.nan]
    np.testing.assert_array_equal(seen[-1].X, [[0.75, 0.5], [0.5, 0.75]])
    np.testing.assert_array_equal(seen[-1].bests, [[0.125, 0.75], nothing])
    np.testing.assert_array_equal(seen[-1].recall(0), [[0.25, 0.5], [0.5, 0.25]])


@pytest.mark.parametrize(
    ("proposal", "complaint"),
    [
        (("nobody", 0, [(0.5, 0.5)]), "'nobody' is not a site"),
        (("x", 0, [(0.5,)]), "have 2 coordinates; site 'x' sent 1"),
    ],
)
def test_a_wrong_proposal_is_refused_in_one_sentence(proposal, complaint):
    with pytest.raises(CbocError, match=complaint):
        Ledger(study()).submit(Proposal(*proposal))


def test_a_reward_that_no_rule_asks_for_is_refused():
    with pytest.raises(CbocError, match="the rule of study 'study' asks for no rewards; site 'x' sent one"):
        propose(Ledger(study()), "x", reward=1.0)


def test_best_designs_go_to_those_who_may_hear_them():
    sites = ("a", "b", "c", "d")
    ring = Study(SPACE, sites, 3, graph=[("a", "b"), ("b", "c"), ("c", "d")], shares_best=True, pace="rounds")
    ledger = Ledger(ring)
    bests = {"a": [(0.1, 0.1)], "b": [(0.2, 0.2)], "c": [], "d": [(0.4, 0.4)]}
    for site in ("d", "b", "a", "c"):
        ledger.submit(Proposal(site, 0, [(0.5, 0.5)], bests[site]))
    assert {site: len(ledger.mix(site, 0).others) for site in sites} == {"a": 1, "b": 1, "c": 2, "d": 0}
    assert ledger.mix("c", 0).others == (*Proposal("b", 0, bests["b"]).X, *Proposal("d", 0, bests["d"]).X)


def test_of_very_many_others_a_site_hears_some_by_turns():
    names = tuple(f"s{k}" for k in range(100))
    ledger = Ledger(study(names, horizon=4))
    for round in range(4):
        for k, name in enumerate(names):
            ledger.submit(Proposal(name, round, [(0.5, 0.5)], [(k / 128, 0.25)]))
    heard = [{x[0] * 128 for x in ledger.mix("s0", round).others} for round in range(4)]
    assert all(20 <= len(some) <= 32 for some in heard)
    assert set.union(*heard) == set(range(1, 100)) and not heard[0] & heard[1]


def test_a_best_design_that_nobody_asked_for_is_refused():
    with pytest.raises(CbocError, match="does not share best designs; site 'a' sent one"):
        Ledger(study(("a", "b"), shares_best=False)).submit(Proposal("a", 0, [(0.5, 0.5)], [(0.5, 0.5)]))


def test_what_another_ledger_knew_of_the_past_changes_no_answer():
    """However much or little of it: from the beginning, from the middle, and from after the store's last round."""
    first = Ledger(study(rule="leader"))
    pasts = [first.past]
    for turn in range(3):
        for k, site in enumerate("xyz"):
            propose(first, site, turn, (k / 4, turn / 4), float((k + turn) % 3))
        first.mix("x", turn)
        pasts.append(first.past)
    expected = [first.mix(site, turn) for turn in range(3) for site in "xyz"]
    for past in pasts:
        again = Ledger(first.study, first.store, past=past)
        assert [again.mix(site, turn) for turn in range(3) for site in "xyz"] == expected
        assert again.standing() == first.standing()


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_order_of_arrival_gives_the_same_mixes(data):
    sites = [f"s{k}" for k in range(data.draw(st.integers(1, 5)))]
    rounds = data.draw(st.integers(1, 4))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    xs, rewards = rng.random((rounds, len(sites), 2)), rng.random((rounds, len(sites)))

    def run(orders):
        ledger = Ledger(study(sites, rounds, rule="leader"))
        for t, order in enumerate(orders):
            for k in order:
                propose(ledger, sites[k], t, tuple(xs[t, k]), float(rewards[t, k]))
        return [ledger.mix(site, t) for t in range(rounds) for site in sites]

    straight = run([range(len(sites))] * rounds)
    shuffled = run([data.draw(st.permutations(range(len(sites)))) for _ in range(rounds)])
    assert straight == shuffled


# ------------------------------------------------------------------------------------------------- the free pace


def free(**options):
    return Ledger(study(pace="free", **options))


def test_the_first_who_asks_is_answered_by_itself():
    ledger = free()
    propose(ledger, "y", x=(0.25, 0.5))
    answer = ledger.mix("y", 0)
    assert answer.X == ((0.25, 0.5),) and answer.weights == (0.0, 1.0, 0.0) and answer.snapshot == 0


def test_a_turn_is_answered_from_the_latest_of_everybody():
    """Three sites, nobody has used any budget: the mean of the latest designs."""
    ledger = free(horizon=4)
    propose(ledger, "x", x=(0.0, 0.0))
    propose(ledger, "y", x=(0.25, 0.25))
    propose(ledger, "z", x=(0.5, 0.5))
    assert ledger.mix("x", 0).X == ((0.0, 0.0),)  # as it was when it arrived
    assert ledger.mix("y", 0).weights == pytest.approx([1 / 3, 2 / 3, 0.0], abs=1e-8)
    assert ledger.mix("z", 0).weights == pytest.approx([1 / 3, 1 / 3, 1 / 3], abs=1e-8)
    propose(ledger, "x", turn=1, x=(1.0, 1.0))  # x has used 1 of 4: it shares (1 - 1/4) / 3 with each
    assert ledger.mix("x", 1).weights == pytest.approx([0.5, 0.25, 0.25], abs=1e-8)
    assert ledger.mix("x", 1).X[0] == pytest.approx([0.5 + 0.0625 + 0.125] * 2, abs=1e-8)


def test_at_the_free_pace_nobody_is_missing_and_nothing_is_due():
    ledger = free()
    propose(ledger, "x")
    assert ledger.standing() == Standing(1, ()) and ledger.missing() == [] and not ledger.is_due
    assert ledger.expected() == ["x", "y", "z"]


@pytest.mark.parametrize("setting", [{"deadline": 60.0}, {"quorum": 2}])
def test_what_only_rounds_have_is_refused_at_the_free_pace(setting):
    with pytest.raises(CbocError, match="at the free pace there are no rounds"):
        free(**setting)


def test_a_budget_is_a_number_of_experiments():
    ledger = free(horizon=4)
    ledger.submit(Proposal("x", 0, [(0.1, 0.1)] * 3))
    with pytest.raises(CbocError, match="has used its budget of 4 experiments"):
        ledger.submit(Proposal("x", 1, [(0.1, 0.1)] * 2))
    ledger.submit(Proposal("x", 1, [(0.1, 0.1)]))
    assert ledger.snapshot(1).turns.tolist() == [3, 0, 0] and ledger.expected() == ["y", "z"]


def test_one_who_has_left_proposes_no_more_and_is_still_heard():
    ledger = free()
    ledger.submit(Proposal("x", 0, [(0.1, 0.1)], [(0.3, 0.3)]))
    ledger.leave("x")
    with pytest.raises(CbocError, match="site 'x' has left"):
        propose(ledger, "x", turn=1)
    assert ledger.news("y").others == ((0.30000000004656613, 0.30000000004656613),)


def test_at_the_free_pace_no_site_leads_twice_in_a_row_for_the_same_one():
    ledger = free(rule="leader", horizon=9)
    propose(ledger, "y", x=(0.1, 0.1), reward=9.0)
    propose(ledger, "z", x=(0.2, 0.2), reward=5.0)
    leaders = []
    for turn in range(4):
        propose(ledger, "x", turn=turn, reward=1.0)
        leaders.append(ledger.mix("x", turn).leader)
    assert leaders == ["y", "z", "y", "z"]


@given(arrivals=st.lists(st.tuples(st.sampled_from("xyz"), st.floats(0, 1)), min_size=1, max_size=24), rule=RULES)
@settings(max_examples=60, deadline=None)
def test_w_is_doubly_stochastic_at_every_arrival_and_replays_bit_for_bit(arrivals, rule):
    agreed = study(horizon=30, pace="free", rule=rule, graph="star")
    ledger, again, turns, said = Ledger(agreed), Ledger(agreed), dict.fromkeys("xyz", 0), []
    for site, u in arrivals:
        sent = Proposal(site, turns[site], [(u, 1 - u)], [(u, u)], u if agreed.needs_rewards else None)
        ledger.submit(sent)
        said.append((sent, ledger.mix(site, turns[site])))
        turns[site] += 1
    for state, (sent, _) in enumerate(said):
        again.submit(sent)
        assert is_doubly_stochastic(ledger.matrix(state))
    assert [again.mix(sent.site, sent.turn) for sent, _ in said] == [answer for _, answer in said]


# ---------------------------------------------------------------------------- whatever sites send, others are answered


@given(data=st.data(), pace=st.sampled_from(["rounds", "free"]), K=st.sampled_from([2, 5, 40]))
@settings(max_examples=40, deadline=None)
def test_a_closed_state_can_always_be_answered(data, pace, K):
    names = tuple(f"s{k}" for k in range(K))
    ledger = Ledger(study(names, horizon=20, pace=pace, rule=data.draw(st.sampled_from(["uniform", "leader"]))))
    for turn in range(2):
        for name in names:
            X = [(data.draw(st.floats(0, 1)), 0.5)] * data.draw(st.integers(1, 3))
            bests = [(0.25, j / MOST_BESTS) for j in range(data.draw(st.sampled_from([0, 1, MOST_BESTS])))]
            reward = data.draw(st.floats(-1e308, 1e308)) if ledger.study.needs_rewards else None
            ledger.submit(Proposal(name, turn, X, bests, reward))
        for name in names:
            answer, news = ledger.mix(name, turn), ledger.news(name)
            ledger.study.check_mix(answer, name, turn, len(answer.X))
            ledger.study.check_news(news, name)
            wire.read(wire.MIXED, json.dumps(wire.mix_body(answer)).encode())
            wire.read(wire.NEWS, json.dumps(wire.news_body(news)).encode())


@pytest.mark.parametrize(("K", "states"), [(10, 3), (70, 24)])
def test_of_very_many_best_designs_a_site_hears_all_by_turns(K, states):
    names = tuple(f"s{k}" for k in range(K))
    ledger = Ledger(study(names, horizon=states))
    for turn in range(states):
        for k, name in enumerate(names):
            ledger.submit(Proposal(name, turn, [(0.5, 0.5)], [(k / 128, j / 8) for j in range(MOST_BESTS)]))
    heard = [ledger.mix("s0", turn).others for turn in range(states)]
    assert all(len(some) <= MOST_OTHERS for some in heard)
    assert set().union(*heard) == {(k / 128, j / 8) for k in range(1, K) for j in range(MOST_BESTS)}
