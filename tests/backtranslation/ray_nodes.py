"""Ray nodes on this machine, with one core each."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "tests-of-nutgraf-on-two-nodes-of-one-machine"}
ENVIRONMENT = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "RAY_raylet_start_wait_time_s": "40", **TOKEN}
ENVIRONMENT |= {"RAY_worker_niceness": "0"}  # else workers wait for whatever else the machine does
PORTS = ("metrics_agent_port", "metrics_export_port", "dashboard_agent_listen_port", "runtime_env_agent_port")


def free_ports(count: int) -> list[int]:
    """Return ports that are free now. Where Ray must choose its own, it waits for agents to tell them, but not long."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("", 0))) for _ in range(count)]
        return [int(one.getsockname()[1]) for one in sockets]


def start_nodes(count: int, attempts: int = 4) -> Any:
    """Start a head and other nodes; on a very busy machine, an agent of Ray may miss its 15 seconds, and all fails."""
    from ray.cluster_utils import Cluster as Nodes

    found = Nodes()
    try:
        for _ in range(count):
            ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
            found.add_node(num_cpus=1, object_store_memory=80_000_000, include_dashboard=False, **ports)
        found.wait_for_nodes()
    except Exception as error:
        found.shutdown()
        if attempts == 1 or "timed out" not in str(error):
            raise
        return start_nodes(count, attempts - 1)
    return found
