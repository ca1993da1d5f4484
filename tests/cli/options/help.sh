#!/bin/bash
oclcc --help
