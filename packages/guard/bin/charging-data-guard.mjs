#!/usr/bin/env node
import '../dist/gateway.js';
