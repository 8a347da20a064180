import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { GatewayClient } from '../../protocol/client/ws-client.ts';
import { commandLinesWith } from '../../src/testing/command-lines.ts';
import { checkDisk } from '../checker/check.ts';
import { readDisk } from '../checker/read-disk.ts';
import { type DaemonUnderTest, startDaemon } from '../support/daemon/daemon.ts';
import { type ScriptedModel, startScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, say as says } from '../support/model/scripted-steps.ts';
import type { StepKills } from './kill-at-steps.ts';
import { inTime, wasKilledBefore } from './trial.ts';

const KILLER = new URL('../support/fixtures/killed-at-statement.ts', import.meta.url);

interface Steps {
  /** The number of the first statement after which the daemon is killed, and how many come between two kills. */
  from: number;
  by: number;
  say(line: string): void;
}

/**
 * Kills a daemon after each database statement of a run that starts a command in the background, reads its output and ends
 * it, until one trial gets to its end. Another daemon then goes on.
 */
export async function killBackgroundAtSteps({ from, by, say }: Steps): Promise<StepKills> {
  await using model = await startScriptedModel();
  play(model);
  await using daemon = await startDaemon({ model: model.url });
  const found: StepKills = { kills: 0, findings: [] };
  for (let statement = from; found.findings.length === 0; statement += by) {
    const { wasKilled, findings } = await tryOnce(daemon, statement);
    found.findings.push(...findings.map((what) => `killed after ${statement}: ${what}`));
    if (!wasKilled) break;
    found.kills += 1;
    if (found.kills % 10 === 0) say(`${found.kills} kills`);
  }
  return found;
}

/** Starts a command, waits for its output, ends it and says so. */
function play(model: ScriptedModel): void {
  model.onRequest(({ messages }) => {
    const text = JSON.stringify(messages);
    const tag = [...text.matchAll(/bg-step-\d+/g)].at(-1)?.[0] ?? '';
    const results = messages.filter(({ role }) => role === 'tool').length;
    const id = [...text.matchAll(/in the background as (bg_[\w-]{16})/g)].at(-1)?.[1] ?? 'bg_none';
    const call = (name: string, args: object) => callTools({ name, id: `call_${results}`, arguments: args });
    if (results === 0) return call('bash', { command: toCommand(tag), run_in_background: true });
    if (results === 1) return call('bash_output', { bash_id: id, wait_for: 'here', wait_secs: 5 });
    if (results === 2) return call('kill_shell', { bash_id: id });
    return says('It has ended.');
  });
}

/** What it leaves behind is in another session and ignores signals. */
const toCommand = (tag: string): string => `echo here; setsid bash -c 'trap "" TERM; sleep 3600; : ${tag}' & wait`;

async function tryOnce(
  daemon: DaemonUnderTest,
  statement: number,
): Promise<{ wasKilled: boolean; findings: string[] }> {
  const tag = `bg-step-${statement}`;
  const { NODE_OPTIONS = '' } = process.env;
  const killer = { NODE_OPTIONS: `${NODE_OPTIONS} --import=${KILLER.href}`, KILL_ARMED: '1' };
  await daemon.restart({ env: { ...killer, KILL_AFTER: String(statement) } });
  const client = await daemon.client();
  const { wsId } = await client.call('workstream.create', { autoApprove: true });
  const exited = daemon.exited();
  daemon.signal('SIGUSR2');
  await client.call('health', {}); // the signal has arrived
  const ask = { wsId, message: `start ${tag}`, idempotencyKey: randomUUID() };
  const ended = finish(client, ask);
  const wasKilled = await wasKilledBefore(ended, exited, tag);
  client.close();
  if (wasKilled) {
    await daemon.restart({ env: {} });
    const next = await daemon.client();
    await inTime(finish(next, ask), `an end of ${tag} after the kill`);
    // One more turn, in which the model hears of commands that it had not heard of.
    await finish(next, { wsId, message: 'and?', idempotencyKey: randomUUID() });
    next.close();
  }
  return { wasKilled, findings: await findingsIn(daemon, { tag, wsId }) };
}

/** Sends the message, again if it was sent before, and has interrupted calls run again, until the run has ended. */
async function finish(client: GatewayClient, ask: { wsId: string; message: string; idempotencyKey: string }) {
  const { runId } = await client.call('workstream.send', ask);
  for (;;) {
    const { approvals } = await client.call('approval.list', { wsId: ask.wsId });
    for (const { approvalId } of approvals) await client.call('approval.resolve', { approvalId, approved: true });
    const { status } = await client.call('agent.wait', { runId: runId ?? '', timeoutMs: 20 });
    if (status !== 'timeout') return;
  }
}

async function findingsIn({ home }: DaemonUnderTest, { tag, wsId }: { tag: string; wsId: string }): Promise<string[]> {
  const disk = readDisk(home, [wsId]);
  const [workstream] = disk.workstreams;
  if (workstream === undefined) return ['the workstream is gone'];
  const { runs, events } = workstream;
  const rows = readRows(home, wsId);
  const told = events.flatMap(({ event }) => (event.type === 'background_command' ? [event] : []));
  const ends = told.filter(({ state }) => state === 'ended').map(({ command_id }) => command_id);
  const left = await commandLinesWith(`: ${tag}`);
  return [
    ...checkDisk(disk).map((violation) => JSON.stringify(violation)),
    ...(runs.every(({ run }) => run.status === 'ok') ? [] : [`runs: ${runs.map(({ run }) => run.status).join()}`]),
    ...(left.length === 0 ? [] : [`${left.length} processes are left`]),
    ...rows.filter(({ is_running }) => is_running !== 0).map(({ command_id }) => `${command_id} is stored as running`),
    ...rows.filter(({ is_told }) => is_told !== 1).map(({ command_id }) => `the model has not heard of ${command_id}`),
    ...rows
      .filter(({ command_id }) => ends.filter((id) => id === command_id).length !== 1)
      .map(({ command_id }) => `the end of ${command_id} was not told once`),
    ...(new Set(ends).size === rows.length ? [] : [`${rows.length} commands, ${ends.length} ends`]),
  ];
}

function readRows(home: string, wsId: string) {
  using database = new DatabaseSync(path.join(home, 'headgate.db'), { readOnly: true });
  return database
    .prepare('select command_id, is_running, is_told from background_commands where ws_id = ?')
    .all(wsId)
    .map(({ command_id: id, is_running, is_told }) => ({ command_id: String(id), is_running, is_told }));
}
