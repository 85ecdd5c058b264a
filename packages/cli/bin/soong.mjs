#!/usr/bin/env node
// The command. Everything else is loaded by what was asked for.

import "../dist/soong.js";
