import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { openConversation } from '../support/clients/conversation.ts';
import type { Stage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';
import type { ScenarioServer } from './run-scenario.ts';

/** The arguments of tools that need some. */
const ARGUMENTS: Readonly<Record<string, object>> = { add_numbers: { a: 5, b: 3 } };

/**
 * Lets a daemon use the server of a scenario as people would: the server is configured, and an agent calls each of its tools.
 * Every question is answered with a bare approval.
 */
export async function driveDaemon({ daemon, model }: Stage, { scenario, url }: ScenarioServer): Promise<void> {
  const name = scenario.replaceAll(/[^a-z0-9]+/g, '-');
  await configure(daemon.home, name, url);
  const operator = await daemon.client();
  await operator.call('config.reload', {});
  const { state, tools, problem } = await operator.call('mcp.refresh', { name });
  assert.equal(state, 'connected', problem);
  await using talk = await openConversation(daemon);
  for (const { name: tool, tool: plain } of tools) {
    const id = `call_${name}_${plain}`;
    const message = `use ${tool}.`;
    model.when(message, callTools({ id, name: tool, arguments: ARGUMENTS[plain] ?? {} }), say('Done.'));
    const question = await talk.ask(message);
    let answered = 0;
    const result = talk.until('tool_result', ({ call_id }) => call_id === id);
    for (;;) {
      const asked = talk.until('approve_request', ({ approval_id: one }) => !decided.has(one));
      const next = await Promise.race([result, asked]);
      if (next.type === 'tool_result') break;
      decided.add(next.approval_id);
      answered += 1;
      assert.ok(answered < 20, 'it asks without end');
      await talk.decide(next.approval_id, { approved: true });
    }
    await talk.ended(question);
    assert.equal((await result).outcome, 'done', (await result).output);
  }
}

const decided = new Set<string>();

/** As an operator would, with an editor. */
async function configure(home: string, name: string, url: string): Promise<void> {
  const file = path.join(home, 'config.json');
  const config = JSON.parse(await readFile(file, 'utf8').catch(() => '{}'));
  const servers = { ...config.mcp?.servers, [name]: { url } };
  await writeFile(file, JSON.stringify({ ...config, mcp: { ...config.mcp, servers } }), { mode: 0o600 });
}
