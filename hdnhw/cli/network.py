"""Commands about a network and its routing."""

from hdnhw.cli.options import NODE, Command
from hdnhw.library import graphs, info, routes

COMMANDS = (
    Command(info.info, purpose="networks", example="hdnhw info 'rdn(cube(3), 1)'"),
    Command(info.neighbors, purpose="networks", example="hdnhw neighbors 'torus(4, 4)' 5"),
    Command(
        graphs.export,
        purpose="networks",
        example="hdnhw export 'rdn(cube(2), 1)' -o rdn.graphml",
        arguments={
            "output": "FILE edges (.edges, .txt), GraphML (.graphml), DOT (.dot, .gv), or list of routers of BookSim "
            "(.anynet)"
        },
    ),
    Command(
        routes.route, purpose="routes", example="hdnhw route 'rdn(cube(3), 1)' 0 1.1/1.0.1", machine={"routes": True}
    ),
    Command(
        routes.paths,
        purpose="routes",
        example="hdnhw paths 'rdn(cube(3), 1)' 0 1.1/1.0.1",
        arguments={
            "src": f"{NODE}, or several with blanks between them: '0 1 2'",
            "dst": "the same; paths from one node to several, or between as many",
        },
        machine={"routes": True},
    ),
    Command(
        routes.routing,
        purpose="routes",
        example="hdnhw routing 'hdn(cube(2), [[0], [0, 1]])' --modes ff",
        machine={"routes": True},
    ),
)
