import { parseArgs } from 'node:util';
import { startDaemon } from '../support/daemon/daemon.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { driveDaemon } from './drive-daemon.ts';
import { runScenario } from './run-scenario.ts';
import { listScenarios } from './scenarios.ts';

const HELP = `npm run mcp-conformance -- [--only SCENARIO] [--verbose]

Runs the client scenarios of @modelcontextprotocol/conformance that are not drafts. The client is a daemon: the server of each
scenario is configured as a tool server, and an agent calls its tools.
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    verbose: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const print = (text: string) => process.stdout.write(text);

if (values.help) print(HELP);
else {
  const scenarios = values.only ?? (await listScenarios());
  const model = await startScriptedModel();
  const daemon = await startDaemon({ model: model.url });
  let failed = 0;
  try {
    for (const scenario of scenarios) {
      const { isPassed, output } = await runScenario(scenario, (server) => driveDaemon({ daemon, model }, server));
      if (!isPassed) failed += 1;
      print(`${isPassed ? '✔' : '✖'} ${scenario}\n`);
      if (!isPassed || values.verbose) print(`${output}\n`);
    }
  } finally {
    await daemon[Symbol.asyncDispose]();
    await model.close();
  }
  print(`${scenarios.length} scenarios, ${failed} failed\n`);
  process.exitCode = failed > 0 ? 1 : 0;
}
