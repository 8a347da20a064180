import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { createGatewayClient, type GatewayClient } from '../../protocol/client/ws-client.ts';
import type { Approval } from '../../protocol/methods/approval.ts';
import { checkDisk } from '../checker/check.ts';
import type { Disk, Effect, WorkstreamOnDisk } from '../checker/evidence.ts';
import { readChildren, readDisk } from '../checker/read-disk.ts';
import { readEffects } from '../checker/recording/effects-file.ts';
import { type DaemonUnderTest, startDaemon } from '../support/daemon/daemon.ts';
import { pause } from '../support/deadline.ts';
import { type Answer, type ChatRequest, startScriptedModel } from '../support/model/scripted-model.ts';
import type { StepKills } from './kill-at-steps.ts';
import { inTime, wasKilledBefore } from './trial.ts';

const KILLER = new URL('../support/fixtures/killed-at-statement.ts', import.meta.url);

/** What a trial left behind. */
export interface Left {
  tag: string;
  disk: Disk;
  workstream: WorkstreamOnDisk;
  /** The workstreams that work for it. */
  children: WorkstreamOnDisk[];
  /** Lines of the commands of this trial. */
  effects: Effect[];
}

/** Something that agents do, as a model does it and a person decides about it. */
export interface Feature {
  /** The first words of the message; a tag follows, which is different in every trial. */
  message: string;
  /** Settings of the daemon. */
  config?: object;
  /** The file, from the working directory, that commands append to. */
  effectsFile?: string;
  /** The workstream is a coordinator. Its children ask, too, and take their time. */
  isLead?: true;
  /** The message comes from somebody who may not approve, so that nobody trusts it. */
  isForeign?: true;
  answer(request: ChatRequest, tag: string): Answer;
  /** Default: a question is approved. */
  decide?(client: GatewayClient, approval: Approval): Promise<unknown>;
  /** Whether all is over, once the run has ended. Default: it is. */
  isOver?(client: GatewayClient, wsId: string): Promise<boolean>;
  /** What is wrong while the daemon is dead. */
  whileDown?(): Promise<string[]>;
  /** Removes what it made besides. */
  end?(): void;
  findings(left: Left): string[];
}

interface Steps {
  /** The number of the first statement after which the daemon is killed, and how many come between two kills. */
  from: number;
  by: number;
  say(line: string): void;
}

/** Kills a daemon after each database statement of a run that uses a feature, until one trial gets to its end. */
export async function killFeatureAtSteps(feature: Feature, { from, by, say }: Steps): Promise<StepKills> {
  using _ended = { [Symbol.dispose]: () => feature.end?.() };
  await using model = await startScriptedModel();
  model.onRequest((request) => {
    const tag = [...JSON.stringify(request.messages).matchAll(/kill-step-\d+/g)].at(-1)?.[0] ?? '';
    return feature.answer(request, tag);
  });
  await using daemon = await startDaemon({ model: model.url, ...(feature.config && { config: feature.config }) });
  const token = feature.isForeign && (await foreignToken(daemon));
  const found: StepKills = { kills: 0, findings: [] };
  for (let statement = from; found.findings.length === 0; statement += by) {
    const trial = { statement, tag: `kill-step-${statement}`, feature, ...(token && { token }) };
    const { wasKilled, wsId, wrong } = await tryOnce(daemon, trial);
    const findings = [...wrong, ...(await findingsIn(daemon, trial, wsId))];
    found.findings.push(...findings.map((what) => `killed after ${statement}: ${what}`));
    if (!wasKilled) break;
    found.kills += 1;
    if (found.kills % 10 === 0) say(`${found.kills} kills`);
  }
  return found;
}

async function foreignToken(daemon: DaemonUnderTest): Promise<string> {
  const client = await daemon.client();
  const { token } = await client.call('token.create', { name: 'foreign', scope: 'write' });
  client.close();
  return token;
}

interface Trial {
  statement: number;
  tag: string;
  feature: Feature;
  /** Of whoever sends the message. */
  token?: string;
}

interface Tried {
  wasKilled: boolean;
  wsId: string;
  /** What was wrong while the daemon was dead. */
  wrong: string[];
}

async function tryOnce(daemon: DaemonUnderTest, trial: Trial): Promise<Tried> {
  const { statement, tag, feature } = trial;
  const { NODE_OPTIONS = '' } = process.env;
  const killer = { NODE_OPTIONS: `${NODE_OPTIONS} --import=${KILLER.href}`, KILL_ARMED: '1' };
  await daemon.restart({ env: { ...killer, KILL_AFTER: String(statement) } });
  const client = await daemon.client();
  const { wsId } = await client.call('workstream.create', feature.isLead ? { kind: 'coordinator' } : {});
  const ask = { wsId, message: `${feature.message} ${tag}`, idempotencyKey: randomUUID() };
  const exited = daemon.exited();
  daemon.signal('SIGUSR2');
  await client.call('health', {}); // the signal has arrived
  const wasKilled = await wasKilledBefore(finish(daemon, client, { ask, trial }), exited, tag);
  client.close();
  const wrong = wasKilled ? ((await feature.whileDown?.()) ?? []) : [];
  if (wasKilled) {
    await daemon.restart({ env: {} });
    const next = await daemon.client();
    await inTime(finish(daemon, next, { ask, trial }), `an end of ${tag} after the kill`);
    next.close();
  }
  return { wasKilled, wsId, wrong };
}

interface Asking {
  ask: { wsId: string; message: string; idempotencyKey: string };
  trial: Trial;
}

/** Sends the message, again if it was sent before, and decides whatever is asked until all is over. */
async function finish(daemon: DaemonUnderTest, client: GatewayClient, { ask, trial }: Asking): Promise<void> {
  const { feature, token } = trial;
  const { wsId } = ask;
  const sender = token === undefined ? client : await clientWith(daemon, token);
  try {
    const { runId } = await sender.call('workstream.send', ask);
    for (;;) {
      await decideAll(client, wsId, feature);
      const { status } = await sender.call('agent.wait', { runId: runId ?? '', timeoutMs: feature.isLead ? 100 : 20 });
      if (status === 'timeout') continue;
      if ((await feature.isOver?.(client, wsId)) ?? true) return;
      await pause(200); // not so often that requests are refused
    }
  } finally {
    if (sender !== client) sender.close();
  }
}

async function clientWith({ url }: DaemonUnderTest, token: string): Promise<GatewayClient> {
  const identity = { name: 'e2e', version: '1', mode: 'test' };
  const client = createGatewayClient({ url: url.replace('http', 'ws'), token, client: identity });
  await client.connect();
  return client;
}

async function decideAll(client: GatewayClient, wsId: string, feature: Feature): Promise<void> {
  const { approvals } = await client.call('approval.list', feature.isLead ? {} : { wsId });
  for (const approval of approvals) await decide(client, approval, feature);
}

const decide = (client: GatewayClient, approval: Approval, feature: Feature): Promise<unknown> =>
  feature.decide?.(client, approval) ??
  client.call('approval.resolve', { approvalId: approval.approvalId, approved: true });

async function findingsIn({ home }: DaemonUnderTest, { tag, feature }: Trial, wsId: string): Promise<string[]> {
  const disk = readDisk(home, [wsId, ...readChildren(home, [wsId])]);
  const workstream = disk.workstreams.find((one) => one.wsId === wsId);
  if (!workstream) return ['the workstream is gone'];
  const { effectsFile } = feature;
  const effects = effectsFile === undefined ? [] : await readEffects(path.resolve(home, 'workspace', effectsFile));
  const children = disk.workstreams.filter((one) => one !== workstream);
  const ofTrial = effects.filter((effect) => effect.tag.startsWith(`${tag}-`));
  const left = { tag, disk, workstream, children, effects: ofTrial };
  const runs = disk.workstreams.flatMap((one) => one.runs);
  return [
    ...checkDisk(disk).map((violation) => JSON.stringify(violation)),
    ...(runs.every(({ run }) => run.status === 'ok') ? [] : [`runs: ${runs.map(({ run }) => run.status).join()}`]),
    ...feature.findings(left),
  ];
}
