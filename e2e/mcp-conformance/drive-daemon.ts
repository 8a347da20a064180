import assert from 'node:assert/strict';
import { openConversation } from '../support/clients/conversation.ts';
import type { Stage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';
import { configure, toServerName } from './configure.ts';
import { driveWithAccount } from './drive-with-account.ts';
import type { ScenarioServer } from './run-scenario.ts';
import { isAboutAccounts } from './scenarios.ts';

/** The arguments of tools that need some. */
const ARGUMENTS: Readonly<Record<string, object>> = { add_numbers: { a: 5, b: 3 } };
const MOST_QUESTIONS = 20;

/** Lets a daemon use the server of a scenario. */
export const driveDaemon = (stage: Stage, server: ScenarioServer): Promise<void> =>
  isAboutAccounts(server.scenario) ? driveWithAccount(stage, server) : driveWithoutAccount(stage, server);

/**
 * Uses the server as people would: the server is configured, and an agent calls each of its tools.
 * Every question is answered with a bare approval. In the end, the server is taken out, because the suite waits for its
 * connections to end.
 */
async function driveWithoutAccount(stage: Stage, { scenario, url }: ScenarioServer): Promise<void> {
  const { daemon } = stage;
  const name = toServerName(scenario);
  const operator = await daemon.client();
  const reload = () => operator.call('config.reload', {});
  try {
    await configure(daemon.home, { servers: { [name]: { url } } });
    await reload();
    const { state, tools, problem = '' } = await operator.call('mcp.refresh', { name });
    assert.equal(state, 'connected', problem);
    await callEach(stage, tools);
  } finally {
    await configure(daemon.home, { servers: {} });
    await reload();
    operator.close();
  }
}

async function callEach({ daemon, model }: Stage, tools: readonly { name: string; tool: string }[]): Promise<void> {
  await using talk = await openConversation(daemon);
  for (const [index, { name, tool }] of tools.entries()) {
    const id = `call_${index}`;
    const message = `use ${name}.`;
    model.when(message, callTools({ id, name, arguments: ARGUMENTS[tool] ?? {} }), say('Done.'));
    const question = await talk.ask(message);
    const result = talk.until('tool_result', ({ call_id }) => call_id === id);
    const decided = new Set<string>();
    while (decided.size < MOST_QUESTIONS) {
      const asked = talk.until('approve_request', ({ approval_id: one }) => !decided.has(one));
      const next = await Promise.race([result, asked]);
      if (next.type === 'tool_result') break;
      decided.add(next.approval_id);
      await talk.decide(next.approval_id, { approved: true });
    }
    const { outcome, output } = await result;
    assert.equal(outcome, 'done', output);
    await talk.ended(question);
  }
}
