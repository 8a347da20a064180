import type { GatewayClient } from '../../protocol/client/ws-client.ts';
import { type DaemonUnderTest, startDaemon } from '../support/daemon/daemon.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { INSTALLATIONS, type Installation } from './installations.ts';
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
 * Kills a daemon after each database statement of an installation, until one trial gets to its end. After each kill, all of
 * it must be there or nothing, and when it is repeated, all of it once.
 */
export async function killInstallAtSteps(
  mode: keyof typeof INSTALLATIONS,
  { from, by, say }: Steps,
): Promise<StepKills> {
  await using installation = await INSTALLATIONS[mode]();
  await using model = await startScriptedModel();
  await using daemon = await startDaemon({ model: model.url, config: installation.config });
  const found: StepKills = { kills: 0, findings: [] };
  for (let statement = from; found.findings.length === 0; statement += by) {
    const { wasKilled, findings } = await tryOnce(daemon, installation, statement);
    found.findings.push(...findings.map((what) => `killed after ${statement}: ${what}`));
    if (!wasKilled) break;
    found.kills += 1;
    if (found.kills % 10 === 0) say(`${found.kills} kills`);
  }
  return found;
}

async function tryOnce(
  daemon: DaemonUnderTest,
  installation: Installation,
  statement: number,
): Promise<{ wasKilled: boolean; findings: string[] }> {
  const tag = `kill-step-${statement}`;
  const { NODE_OPTIONS = '' } = process.env;
  const killer = { NODE_OPTIONS: `${NODE_OPTIONS} --import=${KILLER.href}`, KILL_ARMED: '1' };
  await daemon.restart({ env: { ...killer, KILL_AFTER: String(statement) } });
  const client = await daemon.client();
  const exited = daemon.exited();
  daemon.signal('SIGUSR2');
  await client.call('health', {}); // the signal has arrived
  const wasKilled = await wasKilledBefore(installation.install(client, tag), exited, tag);
  client.close();
  if (!wasKilled) {
    const same = await daemon.client();
    const all = differences(await installation.found(same, tag), installation.expected(tag));
    same.close();
    return { wasKilled, findings: all };
  }
  await daemon.restart({ env: {} });
  const next = await daemon.client();
  const findings = await inTime(findingsAfter(next, installation, tag), `${tag} after the kill`);
  next.close();
  return { wasKilled, findings };
}

async function findingsAfter(client: GatewayClient, installation: Installation, tag: string): Promise<string[]> {
  const left = await installation.found(client, tag);
  const half = left.length === 0 ? [] : differences(left, installation.expected(tag));
  const refusal = await installation.install(client, tag).then(
    () => undefined,
    (error: unknown) => error,
  );
  const isThere = refusal instanceof Error && 'code' in refusal && refusal.code === 'CONFLICT';
  return [
    ...half.map((what) => `after the kill: ${what}`),
    ...(isThere === left.length > 0 ? [] : [`with ${left.length} parts, the repetition ended with ${refusal}`]),
    ...differences(await installation.found(client, tag), installation.expected(tag)),
  ];
}

function differences(found: readonly string[], expected: readonly string[]): string[] {
  const [is, should] = [found, expected].map((lines) => lines.toSorted().join('; '));
  return is === should ? [] : [`${is}, not ${should}`];
}
