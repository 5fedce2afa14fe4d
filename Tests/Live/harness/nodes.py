"""The nodes of a cluster, each by its internal address."""
import math

SHARDS = 1024


def share_all(*names):
    """A condition on a node's table: these nodes and no others are there, and none has more than its share of the shards."""
    def condition(found):
        nodes = sorted(found["nodes"], key=lambda node: node["name"])
        shards = [node["shards"] for node in nodes]
        return ([node["name"] for node in nodes] == list(names) and sum(shards) == SHARDS and found["shardsWithoutOwner"] == 0
                and max(shards) == math.ceil(SHARDS / len(names)))
    return condition


def asked(own, address, method, **params):
    """The result of a call to one node's own listener."""
    answer = own.post_rpc({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, address=address).json()
    assert "error" not in answer, answer
    return answer["result"]
