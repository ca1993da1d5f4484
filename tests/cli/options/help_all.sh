#!/bin/bash
oclcc --help=all
