"""`cboc biosensor`: one simulation of the case study's sensor, in numbers and pictures."""

from __future__ import annotations

from enum import StrEnum
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cboc.cli.notes import notes
from cboc.cli.pictures import save
from cboc.cli.show import Format, Row, write
from cboc.errors import CbocError
from cboc.plots import style

if TYPE_CHECKING:
    from cboc.evidence.figures.biosensor import Passage

DIGITS = 4  # significant digits in print


class FlowName(StrEnum):
    """The flows of cboc.evidence.biosensor.flow, which needs the extra `fem`."""

    POISEUILLE = "poiseuille"
    NAVIER_STOKES = "navier-stokes"


def biosensor(
    inflow: Annotated[float, typer.Option(help="u_in, m/s; the case study has 0.0001 to 0.01.")] = 1e-2,
    receptors: Annotated[float, typer.Option(help="ρ_s, mol/m²; the case study has 1.8e-8 to 3.3e-8.")] = 1.8e-8,
    pulse: Annotated[float, typer.Option(help="Width of the pulse, min; the case study has 0.5 to 3.")] = 0.5,
    out: Annotated[str, typer.Option(metavar="PATH", help="Directory of the pictures.")] = "runs/biosensor",
    fineness: Annotated[
        float, typer.Option(help="How finely to divide the cells of the mesh, 0.1 to 4; 1 is accurate to 0.03 %.")
    ] = 1.0,
    flow: Annotated[FlowName, typer.Option(help="The flow in the channel.")] = FlowName.POISEUILLE,
    movie: Annotated[bool, typer.Option(help="Also draw the animation, which takes longest.")] = True,
    format: Annotated[Format, typer.Option(help="How to print the numbers.")] = Format.TABLE,
) -> None:
    """Simulate a biosensor once: a sample flows past it, some of it binds, and the coverage rises to a peak.

    Prints the peak, θ_max, which the case study maximises, the time it is reached, and what limits it: the depleted
    layer above the sensor, the Péclet numbers (flow against diffusion) and the Damköhler number (binding against
    transport through the layer; far above 1, faster flow helps and more receptors only take longer to fill). Draws the
    concentration in the channel, the coverage over time and along the sensor, and both as an animated GIF. The
    defaults are the best design of the case study.

    Example: `cboc biosensor --inflow 0.001 --receptors 2.5e-8 --pulse 1 --out runs/slow`
    """
    if not out:
        raise CbocError("--out is a directory for the pictures, such as runs/biosensor; got an empty name.")
    for option, value in (("--inflow", inflow), ("--receptors", receptors), ("--pulse", pulse)):
        if not 0.0 < value < inf:
            raise CbocError(f"{option} is a positive and finite number; got {value:g}.")
    style.figure_class()  # is matplotlib installed? Better asked before the work
    from cboc.evidence.biosensor.flow import Flow
    from cboc.evidence.biosensor.response import Numerics
    from cboc.evidence.biosensor.sensor import MINUTE, Sensor, Setting
    from cboc.evidence.figures import biosensor as draw

    setting, numerics = Setting(inflow, receptors, pulse * MINUTE), Numerics(fineness, flow=Flow(flow))
    with notes.status("simulating until the coverage has peaked") as status:
        passage = draw.record(setting, Sensor(), numerics, lambda share: status.update(f"simulating: {share:.0%}"))
        typer.echo(write(_numbers(passage), format))
        folder = Path(out)
        folder.mkdir(parents=True, exist_ok=True)
        drawn = [save(draw.field(passage), folder / "field.png"), save(draw.coverage(passage), folder / "coverage.png")]
        if movie:
            drawn.append(folder / "movie.gif")
            drawn[-1].write_bytes(draw.movie(passage, lambda share: status.update(f"drawing the movie: {share:.0%}")))
    notes.print(f"Pictures in {out}: {', '.join(path.name for path in drawn)}.")


def _numbers(passage: Passage) -> list[Row]:
    from cboc.evidence.biosensor.numbers import damkohler, peclet, shear_peclet
    from cboc.evidence.biosensor.sensor import MICRO, layer

    setting, sensor, response = passage.setting, passage.sensor, passage.response
    numbers = [
        ("largest coverage θ_max", response.peak, ""),
        ("reached after", response.at, "s"),
        ("strongest sample", passage.strongest, "nM"),
        ("depleted layer δ", layer(sensor, setting.inflow) / MICRO, "µm"),
        ("Péclet number of the channel u_in H / D", peclet(sensor, setting), ""),
        ("Péclet number of the sensor 6 u_in L² / (H D)", shear_peclet(sensor, setting), ""),
        ("Damköhler number k_on ρ_s δ / D", damkohler(sensor, setting), ""),
    ]
    return [{"quantity": name, "value": float(f"{value:.{DIGITS}g}"), "unit": unit} for name, value, unit in numbers]
