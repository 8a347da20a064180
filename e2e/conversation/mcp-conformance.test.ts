import assert from 'node:assert/strict';
import { test } from 'node:test';
import { driveDaemon } from '../mcp-conformance/drive-daemon.ts';
import { runScenario } from '../mcp-conformance/run-scenario.ts';
import { CORE, SAMPLE } from '../mcp-conformance/scenarios.ts';
import { openStage } from '../support/daemon/stage.ts';

const stage = await openStage();

for (const scenario of [...CORE, ...SAMPLE])
  test(`the daemon passes the scenario ${scenario} of the makers of the protocol`, async () => {
    const { isPassed, output } = await runScenario(scenario, (server) => driveDaemon(stage, server));
    assert.ok(isPassed, output.slice(-4_000));
  });
