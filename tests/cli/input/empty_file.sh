#!/bin/bash
: > empty.cl
oclcc empty.cl
