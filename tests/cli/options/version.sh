#!/bin/bash
oclcc --version
