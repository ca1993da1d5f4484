#!/bin/bash
mkdir d.cl
oclcc d.cl
