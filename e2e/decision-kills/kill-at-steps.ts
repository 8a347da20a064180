import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { GatewayClient } from '../../protocol/client/ws-client.ts';
import type { Approval } from '../../protocol/methods/approval.ts';
import { checkDisk } from '../checker/check.ts';
import type { WorkstreamOnDisk } from '../checker/evidence.ts';
import { readDisk } from '../checker/read-disk.ts';
import { effectCommand, readEffects } from '../checker/recording/effects-file.ts';
import { type DaemonUnderTest, startDaemon } from '../support/daemon/daemon.ts';
import { type ScriptedModel, startScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, say as says } from '../support/model/scripted-steps.ts';
import { inTime, wasKilledBefore } from './trial.ts';

const KILLER = new URL('../support/fixtures/killed-at-statement.ts', import.meta.url);
const EFFECTS = 'steps.txt';
const JUDGES = { HEADGATE_SKIP_JUDGE_MODEL: '' };

/** A mode of the workstream. */
export type Mode = 'ask' | 'auto';

export interface StepKills {
  kills: number;
  findings: string[];
}

interface Steps {
  /** In `auto`, the judge answers the questions, and nobody else. */
  mode: Mode;
  /** The number of the first statement after which the daemon is killed, and how many come between two kills. */
  from: number;
  by: number;
  say(line: string): void;
}

/** Kills a daemon after each database statement of a question, its decision and its calls, until one trial gets to its end. */
export async function killAtSteps({ mode, from, by, say }: Steps): Promise<StepKills> {
  await using model = await startScriptedModel();
  play(model);
  await using daemon = await startDaemon({ model: model.url, env: JUDGES });
  const found: StepKills = { kills: 0, findings: [] };
  for (let statement = from; found.findings.length === 0; statement += by) {
    const tag = `step-${statement}`;
    const { wasKilled, wsId } = await tryOnce(daemon, { mode, tag, statement });
    found.findings.push(
      ...(await findingsIn(daemon, { mode, tag, wsId })).map((what) => `killed after ${statement}: ${what}`),
    );
    if (!wasKilled) break;
    found.kills += 1;
    if (found.kills % 10 === 0) say(`${found.kills} kills`);
  }
  return found;
}

/** The rules of the judge approve it, and nothing else lets it run. */
const LISTING = { name: 'list_directory', arguments: { path: '/var/log' } };

/** The same call twice, each after the result before; in the mode `auto` once, because its result is untrusted. The judge has nothing against it. */
function play(model: ScriptedModel): void {
  model.onRequest(({ messages }) => {
    const tag = [...JSON.stringify(messages).matchAll(/step-\d+/g)].at(-1)?.[0] ?? '';
    if (String(messages[0]?.content).startsWith('You judge'))
      return says(
        JSON.stringify({
          ...{ intent_summary: 'Takes a note.', risk_level: 'low', confidence: 0.9, recommendation: 'approve' },
          ...{ reasoning: 'It was asked for.', evidence: [] },
        }),
      );
    const results = messages.filter(({ role }) => role === 'tool').length;
    const isListing = JSON.stringify(messages).includes('list for');
    if (results === (isListing ? 1 : 2)) return says('Both are done.');
    const id = `call_${results}`;
    if (isListing) return callTools({ ...LISTING, id });
    const command = effectCommand({ tag, file: EFFECTS, secs: 0 });
    return callTools({ name: 'bash', arguments: { command }, id });
  });
}

interface Trial {
  mode: Mode;
  tag: string;
  statement: number;
}

async function tryOnce(daemon: DaemonUnderTest, { mode, tag, statement }: Trial) {
  const { NODE_OPTIONS = '' } = process.env;
  const killer = {
    NODE_OPTIONS: `${NODE_OPTIONS} --import=${KILLER.href}`,
    KILL_AFTER: String(statement),
    KILL_ARMED: '1',
  };
  await daemon.restart({ env: { ...JUDGES, ...killer } });
  const client = await daemon.client();
  const { wsId } = await client.call('workstream.create', { mode });
  const idempotencyKey = randomUUID();
  const exited = daemon.exited();
  daemon.signal('SIGUSR2');
  await client.call('health', {}); // the signal has arrived
  const ask = { wsId, message: `${mode === 'auto' ? 'list for' : 'note'} ${tag}`, idempotencyKey };
  const ended = finish(client, ask, mode);
  const wasKilled = await wasKilledBefore(ended, exited, tag);
  client.close();
  if (wasKilled) {
    await daemon.restart({ env: JUDGES });
    const next = await daemon.client();
    await inTime(finish(next, ask, mode), `an end of ${tag} after the kill`);
    next.close();
  }
  return { wasKilled, wsId };
}

interface Ask {
  wsId: string;
  message: string;
  idempotencyKey: string;
}

/** Sends the message, again if it was sent before, and decides whatever is asked until the run has ended. */
async function finish(client: GatewayClient, ask: Ask, mode: Mode) {
  const { runId } = await client.call('workstream.send', ask);
  for (;;) {
    if (mode === 'ask') await decideAll(client, ask.wsId);
    const { status } = await client.call('agent.wait', { runId: runId ?? '', timeoutMs: mode === 'ask' ? 20 : 1_000 });
    if (status !== 'timeout') return;
  }
}

async function decideAll(client: GatewayClient, wsId: string): Promise<void> {
  const { approvals } = await client.call('approval.list', { wsId });
  for (const approval of approvals) await decide(client, approval);
}

async function decide(client: GatewayClient, { approvalId, kind, items }: Approval): Promise<void> {
  const exact = items[0]?.rules?.find((rule) => rule.kind === 'command');
  const rules = kind === 'tools' && exact ? [{ id: exact.id, term: 'conversation' as const }] : [];
  await client.call('approval.resolve', { approvalId, approved: true, rules });
}

async function findingsIn(
  { home }: DaemonUnderTest,
  { mode, tag, wsId }: Pick<Trial, 'mode' | 'tag'> & { wsId: string },
): Promise<string[]> {
  const disk = readDisk(home, [wsId]);
  const [workstream] = disk.workstreams;
  if (workstream === undefined) return ['the workstream is gone'];
  const { runs, messages } = workstream;
  const { undecided, deciders } = readRulings(home, wsId);
  const outcomes = messages.flatMap(({ message }) => (message.role === 'tool' ? [message.outcome] : []));
  const found = [
    ...checkDisk(disk).map((violation) => JSON.stringify(violation)),
    ...(runs.every(({ run }) => run.status === 'ok')
      ? []
      : [`the run ended as ${runs.map(({ run }) => run.status).join()}`]),
    ...(outcomes.join() === (mode === 'auto' ? 'done' : 'done,done') ? [] : [`results: ${outcomes.join()}`]),
    ...(undecided === 0 ? [] : [`${undecided} verdicts without a decision`]),
  ];
  if (mode === 'ask') return [...found, ...(await callFindings(home, workstream, tag))];
  return [...found, ...(deciders === 'judge' ? [] : [`decided by ${deciders}`])];
}

/** Of a person's decision with a rule: the second call ran because of it, and no call too often. */
async function callFindings(home: string, workstream: WorkstreamOnDisk, tag: string): Promise<string[]> {
  const { runs, events, approvals } = workstream;
  const { rules } = readRulings(home, workstream.wsId);
  const starts = runs.flatMap(({ journal }) => journal.filter(({ kind }) => kind === 'tool_started')).length;
  const effects = await readEffects(path.join(home, 'workspace', EFFECTS));
  const ran = effects.filter((effect) => effect.tag === tag && effect.phase === 'begin').length;
  const told = events.flatMap(({ event }) => (event.type === 'approval_resolved' ? (event.rule_ids ?? []) : []));
  const questions = approvals.filter(({ kind }) => kind === 'tools').length;
  return [
    ...(ran >= 2 && ran <= starts ? [] : [`ran ${ran} times, started ${starts} times`]),
    ...(rules.length === 1 && told.join() === rules.join() ? [] : [`rules ${rules.join()}, told ${told.join()}`]),
    ...(questions === 1 ? [] : [`${questions} questions, although a rule was given with the first one`]),
  ];
}

function readRulings(home: string, wsId: string) {
  using database = new DatabaseSync(path.join(home, 'headgate.db'), { readOnly: true });
  const rules = database.prepare('select rule_id from rules where ws_id = ?').all(wsId);
  const undecided = database
    .prepare("select count(*) as count from verdicts where ws_id = ? and user_decision = 'pending'")
    .get(wsId);
  const decided = database.prepare('select decided_by from approvals where ws_id = ?').all(wsId);
  return {
    rules: rules.map(({ rule_id }) => String(rule_id)),
    undecided: Number(undecided?.count),
    deciders: decided.map(({ decided_by }) => decided_by).join(),
  };
}
