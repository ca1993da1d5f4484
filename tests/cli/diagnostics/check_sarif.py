#!/usr/bin/env python3
"""Checks the SARIF on standard input. Covers the requirements of SARIF 2.1.0 for the objects that oclcc
writes, by section of the standard. Prints each result in one line."""

import json
import sys
import urllib.parse


def require(condition, section, text):
    if not condition:
        sys.exit(f"SARIF 2.1.0, {section}: {text}")


def message(owner, section):
    require(isinstance(owner.get("message", {}).get("text"), str), section, f"message of {owner}")
    return owner["message"]["text"]


def location(value):
    place = value.get("physicalLocation")
    if place is None:
        require(set(value) <= {"message"}, "3.28", f"a location without a place: {value}")
        return "-"
    uri = place["artifactLocation"]["uri"]
    require(all(0x20 < ord(c) < 0x7F and c not in '<>"{}|\\^`' for c in uri), "3.4.3", f"URI {uri}")
    text = urllib.parse.unquote(uri)
    region = place.get("region")
    if region is None:
        return text
    for name in ("startLine", "startColumn"):
        if name in region:
            require(
                isinstance(region[name], int) and region[name] >= 1, "3.30", f"{name}: {region}"
            )
    require("startLine" in region, "3.30.5", "a text region has a startLine")
    return f"{text}:{region['startLine']}:{region.get('startColumn', '-')}"


def check_result(result, rules):
    require(result["ruleId"] in rules, "3.27.5", f"{result['ruleId']} is no rule of the driver")
    require(result["level"] in ("none", "note", "warning", "error"), "3.27.10", result["level"])
    places = [location(place) for place in result["locations"]]
    print(result["level"], result["ruleId"], *places, message(result, "3.27.11"))
    for related in result.get("relatedLocations", []):
        print("  related", location(related), message(related, "3.28.5"))
    for device in result.get("properties", {}).get("devices", []):
        require(isinstance(device, str), "3.8", "a device is a name")


def main():
    log = json.load(sys.stdin)
    require(log["version"] == "2.1.0", "3.13.2", "version")
    require(log["$schema"].endswith("/sarif-schema-2.1.0.json"), "3.13.3", "$schema")
    require(isinstance(log["runs"], list) and len(log["runs"]) == 1, "3.13.4", "runs")
    run = log["runs"][0]
    driver = run["tool"]["driver"]
    require(driver["name"] == "oclcc", "3.19.8", "the driver's name")
    rules = [rule["id"] for rule in driver["rules"]]
    require(len(set(rules)) == len(rules), "3.19.23", "rules are unique")
    require(run["columnKind"] == "unicodeCodePoints", "3.14.17", "columnKind")
    for invocation in run["invocations"]:
        require(
            isinstance(invocation["executionSuccessful"], bool), "3.20.14", "executionSuccessful"
        )
        for notification in invocation.get("toolExecutionNotifications", []):
            message(notification, "3.58.5")
        print(
            "successful" if invocation["executionSuccessful"] else "failed",
            len(invocation.get("toolExecutionNotifications", [])) > 0,
        )
    for result in run["results"]:
        check_result(result, rules)


main()
