import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { Approval } from '../../../protocol/methods/approval.ts';
import type { WorkstreamRow } from '../../../protocol/methods/conversation/listing.ts';
import type { HealthSummary } from '../../../protocol/methods/health.ts';
import type { NodePairing } from '../../../protocol/methods/node.ts';
import { budgetOf } from '../../../protocol/text/budget-words.ts';
import { pairingCodeOf } from '../../../protocol/text/pairing-code.ts';
import { systemClock } from '../../clock.ts';
import { type DaemonFile, readDaemonFile } from '../../home/daemon-file.ts';
import type { Surroundings } from '../../home/home-path.ts';
import { findHostTimeZone } from '../../host-time-zone.ts';
import { NoDaemonError } from '../../start-error.ts';
import { readVersion } from '../../version.ts';
import { toNotices } from '../chat/chat-header.ts';
import { resolveTarget, type Target, type TargetFlags, withClient } from '../connect.ts';
import { toTroubleLines } from '../cron/job-troubles.ts';
import { readScheduleStatus, type ScheduleStatus, toScheduleLine } from '../cron/schedule-status.ts';
import { isRunnable, toLabel } from '../find-workstream.ts';
import { createPaint, type Paint, wantsColours } from '../terminal/paint.ts';
import { toSafeText } from '../terminal/safe-text.ts';
import { toChannelLine } from './channels/channel-line.ts';

export interface StatusFlags extends TargetFlags {
  json?: boolean | undefined;
}

interface StatusOptions {
  flags: StatusFlags;
  around: Surroundings;
  root: URL;
}

interface Status {
  url: string;
  /** The daemon's process, if it runs on this machine. */
  process: DaemonFile | undefined;
  health: HealthSummary;
  workstreams: WorkstreamRow[];
  /** Undefined if the caller lacks the approve scope. */
  approvals: Approval[] | undefined;
  /** Pairing requests; undefined without the approve scope. */
  pairings: NodePairing[] | undefined;
  schedule: ScheduleStatus;
  residentBytes: number | undefined;
}

/** Prints the state of the daemon. If none is running: exit code 3, and with `--json` `{"running": false, …}`. */
export async function status({ flags, around, root }: StatusOptions): Promise<void> {
  const isJson = flags.json === true;
  try {
    const target = await resolveTarget(flags, around);
    const caller = { target, version: await readVersion(root) };
    const found = await withClient(caller, (client) => readStatus(client, target));
    const colours = wantsColours('auto', { isTerminal: process.stdout.isTTY, environment: around.environment });
    const text = isJson ? JSON.stringify(toJson(found), null, 2) : toLines(found, createPaint(colours)).join('\n');
    process.stdout.write(`${text}\n`);
  } catch (error) {
    if (!isJson || !(error instanceof NoDaemonError)) throw error;
    process.stdout.write(`${JSON.stringify({ running: false, reason: error.message }, null, 2)}\n`);
    process.exitCode = error.exitCode;
  }
}

async function readStatus(client: GatewayClient, target: Target): Promise<Status> {
  const unlessForbidden = () => undefined; // without the approve scope, the caller could not answer them
  const [health, { workstreams }, approvals, pairings, schedule, daemon, residentBytes] = await Promise.all([
    client.call('health', {}),
    client.call('workstream.list', {}),
    client.call('approval.list', {}).then((list) => list.approvals, unlessForbidden),
    client.call('node.pair.list', {}).then(({ pending }) => pending, unlessForbidden),
    readScheduleStatus(client),
    target.home === undefined ? undefined : readDaemonFile(target.home),
    readResidentBytes(target),
  ]);
  const url = toHttpUrl(target);
  return { url, process: daemon, health, workstreams, approvals, pairings, schedule, residentBytes };
}

const toHttpUrl = ({ url }: Target) => url.replace(/^ws/, 'http').replace(/\/$/, '');

/** Read from the daemon's metrics. */
async function readResidentBytes(target: Target): Promise<number | undefined> {
  try {
    const headers: Record<string, string> =
      target.token === undefined ? {} : { Authorization: `Bearer ${target.token}` };
    const response = await fetch(new URL('/metrics', toHttpUrl(target)), { headers });
    const [, bytes] = /^process_resident_memory_bytes (\S+)$/m.exec(await response.text()) ?? [];
    return bytes === undefined ? undefined : Number(bytes);
  } catch {
    return undefined; // the rest of the status is still useful
  }
}

function toJson({ url, process: daemon, residentBytes, ...found }: Status): object {
  const { health, workstreams, approvals, pairings, schedule } = found;
  return {
    running: true,
    url,
    ...(daemon && { pid: daemon.pid, startedAt: daemon.startedAt }),
    ...(residentBytes !== undefined && { residentBytes }),
    health,
    workstreams,
    ...(approvals && { approvals }),
    ...(pairings && { pairings }),
    schedule,
  };
}

function toLines(found: Status, paint: Paint): string[] {
  const { url, process: daemon, health, workstreams, approvals, pairings, schedule, residentBytes } = found;
  const here = { nowMs: systemClock.now(), tz: findHostTimeZone() };
  const { channels = [] } = health; // older daemons list none
  const pid = daemon === undefined ? '' : `, pid ${daemon.pid}`;
  const notices = toNotices(health).map((notice) => paint('yellow', `! ${notice}`));
  const rows: [name: string, text: string][] = [
    ['Running', `${url} (Headgate ${health.version}${pid}, for ${toDuration(health.uptimeSeconds)})`],
    ['Model', `${health.model} (${health.backend.status === 'up' ? 'reachable' : 'not reachable'})`],
    ['Sandbox', health.sandbox.active ? 'on' : 'off'],
    ...(residentBytes === undefined ? [] : ([['Memory', `${Math.round(residentBytes / 1_048_576)} MiB`]] as const)),
    ['Saving', health.store.status === 'ok' ? 'works' : `fails (${health.store.reason ?? 'unknown'})`],
    ['Open', `${workstreams.filter(isRunnable).length} of at most ${health.maxWorkstreams} workstreams`],
    ...channels.map((row) => toChannelLine(row, here.nowMs)),
    ...(schedule.jobs === 0 ? [] : ([['Schedule', toScheduleLine(schedule, here)]] as const)),
  ].map(([name = '', text = '']) => [name, toSafeText(text)]);
  return [
    ...rows.map(([name, text]) => `${paint('bold', name.padEnd(9))}${text}`),
    ...workstreams.flatMap((row) => [
      `  ${toStateWord(row, paint)} ${toSafeText(toLabel(row))}${toPrivacy(row, paint)}${toTitle(row, paint)}`,
      ...(row.waiting === undefined ? [] : [`    ${toSafeText(row.waiting.message)}`]),
    ]),
    ...(approvals ?? []).flatMap((approval) => toWaitingLines(approval, paint)),
    ...(pairings ?? []).flatMap((pairing) => toPairingLines(pairing, paint)),
    ...toTroubleLines(schedule).map((line) => paint('red', toSafeText(line))),
    ...notices,
  ];
}

function toStateWord({ state, waiting }: WorkstreamRow, paint: Paint): string {
  if (waiting !== undefined) return paint('yellow', 'waits'.padEnd(9));
  const word = state.padEnd(9);
  if (state === 'attention' || state === 'error') return paint(state === 'error' ? 'red' : 'yellow', word);
  return state === 'idle' ? paint('dim', word) : paint('green', word);
}

/** Nothing for those that everyone sees, and for those of older daemons. */
const toPrivacy = ({ visibility }: WorkstreamRow, paint: Paint): string =>
  visibility === 'private' ? paint('yellow', ' (private)') : '';

const toTitle = ({ title, wsId }: WorkstreamRow, paint: Paint): string =>
  paint('dim', ` ${wsId.slice(0, 8)}${title === null ? '' : ` ${toSafeText(title).split('\n')[0]}`}`);

function toWaitingLines({ items, budget, sessionKey }: Approval, paint: Paint): string[] {
  const asked = budget ? [`${budgetOf(budget)} is used up`] : items.map(({ header }) => header);
  const what = asked.map((text) => toSafeText(text).replaceAll('\n', ' ')).join('; ');
  return [paint('yellow', `? ${what}`), paint('dim', `  waits for you: headgate chat --ws ${sessionKey}`)];
}

function toPairingLines({ requestId, displayName, nodeId, remoteIp }: NodePairing, paint: Paint): string[] {
  const [name, code] = [toSafeText(displayName ?? nodeId), pairingCodeOf(requestId)];
  return [
    paint('yellow', `? ${name}${remoteIp === undefined ? '' : ` at ${remoteIp}`} asks to be paired, code ${code}`),
    paint('dim', `  waits for you: headgate nodes approve ${code}`),
  ];
}

function toDuration(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1) return `${Math.floor(seconds)} s`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}
