#!/bin/bash
oclcc
