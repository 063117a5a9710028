#!/usr/bin/awk -f
# A stirred tank with an exothermic reaction A -> B, a jacket that cools it, and a relief valve.
#
#     reactor.awk DECK RESULT
#
# Starts from pure feed and goes on until nothing changes any more; writes the steady state to RESULT. Ends with code 3
# if the relief valve opens. Where the tank oscillates there is no steady state, and the program never ends.

BEGIN { result = ARGV[2]; ARGC = 2 }
/^[A-Z]/ { deck[$1] = $2 }
END {
    flow = deck["INFLOW"] / deck["VOLUME"]                          # 1/min
    cooling = deck["EXCHANGE"] / (239 * deck["VOLUME"])             # 1/min
    feed = 350; c = 1; T = 320; dt = 0.002                          # K, mol/L, K, min
    do {
        rate = 7.2e10 * exp(-8750 / T) * c                          # mol/(L min), Arrhenius
        dc = flow * (1 - c) - rate
        dT = flow * (feed - T) + 209.2 * rate + cooling * (deck["COOLANT"] - T)
        c += dt * dc; T += dt * dT; t += dt
        if ("LIMIT" in deck && T > deck["LIMIT"]) {
            printf "the relief valve opens at %.1f min\n", t > "/dev/stderr"
            exit 3
        }
    } while (dc * dc + dT * dT > 1e-8)
    printf "steady after   %.1f min\ntemperature    %.2f K\nproduct        %.6f mol/min\n", \
        t, T, deck["INFLOW"] * (1 - c) > result
}
