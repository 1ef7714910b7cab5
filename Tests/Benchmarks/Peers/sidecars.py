"""Sidecars as a recorder writes them."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path
from typing import Any

from corpus import Session


def _stamp(milliseconds: int) -> str:
    second, milli = divmod(milliseconds, 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second)) + f".{milli:03d}Z"


def recorder(machine: str | None) -> dict[str, Any]:
    """This process as a recorder, so that sessions that grow have a living one."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    recorder: dict[str, Any] = {
        "pid": os.getpid(),
        "processStart": int(fields[19]),
        "bootId": Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
        "pidNamespace": os.readlink("/proc/self/ns/pid"),
    }
    return recorder | ({"machineId": machine} if machine else {})


def sidecar(session: Session, device: dict[str, Any], recorder: dict[str, Any]) -> dict[str, Any]:
    """What a recorder says of its session."""
    plan = session.plan
    record: dict[str, Any] = {
        "sessionId": plan.session,
        "fileName": session.path.name,
        "format": "lines",
        "userId": "bench",
        "deviceId": device["deviceId"],
        "deviceName": device["deviceName"],
        "osVersion": device["osVersion"],
        "appName": plan.app,
        "startedAt": _stamp(plan.started),
        "lastUpdatedAt": _stamp(plan.started),
        "status": "ACTIVE",
        "fileSizeBytes": 0,
        "scenarios": [],
        "categories": [],
        "levels": {},
        "recorder": recorder,
    }
    if not plan.is_active:
        record |= {
            "lastUpdatedAt": _stamp(session.ended),
            "endedAt": _stamp(session.ended),
            "status": "TERMINATED",
            "cause": "exit 0",
            "fileSizeBytes": session.length,
            "categories": ["Session", "stderr", "stdout"],
            "levels": {"INFO": 2},
        }
    return record


def seal(session: Session, location: str) -> dict[str, Any]:
    """What the local mark of a sealed session adds."""
    length = session.length
    name = session.plan.session
    head = session.digest[:16]
    revision = hashlib.sha256(name.encode()).hexdigest()[:16]
    return {
        "digest": session.digest,
        "objects": [f"{name}.g1.{0:012d}-{length:012d}.{head}.{length // 4 + 1}.log.zst"],
        "seal": {
            "store": location,
            "revision": f"{name}.s0001.terminated.{length:012d}.{revision}.800.json",
            "sealedAt": _stamp(session.ended + 60_000),
            "digest": session.digest,
            "length": length,
        },
    }
