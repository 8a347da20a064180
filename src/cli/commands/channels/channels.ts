import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { ChannelPart, ChannelRow, ChannelSender } from '../../../../protocol/methods/channels/channel.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { systemClock } from '../../../clock.ts';
import type { Surroundings } from '../../../home/home-path.ts';
import { NotFoundError, UsageError } from '../../../start-error.ts';
import { readVersion } from '../../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../../connect.ts';
import { readSecret } from '../../input/read-password.ts';
import { toDistance } from '../../local-time.ts';
import { toTextTable } from '../../text-table.ts';
import { readUserNames } from '../accounts/user-names.ts';

interface ChannelCommand<F = TargetFlags> {
  flags: F;
  around: Surroundings;
  root: URL;
}

export type JsonFlags = TargetFlags & { json?: boolean };
export type ChannelFlags = TargetFlags & { channel: string };
export type TestFlags = JsonFlags & ChannelFlags;
export type PairFlags = TestFlags & { user?: string };
export type LogFlags = JsonFlags & { limit: string };

/** Lists the chat services; the reason for a missing connection follows the table. */
export async function listChannels(command: ChannelCommand<JsonFlags>): Promise<void> {
  const { channels } = await ask(command, (client) => client.call('channel.list', {}));
  if (command.flags.json) return print(channels);
  if (channels.every(({ state }) => state === 'off'))
    return tell('No chat service is set up. Add a bot with: headgate channel login');
  const nowMs = systemClock.now();
  const head = ['CHANNEL', 'STATE', 'SINCE', 'BOT', 'LAST IN', 'LAST OUT', 'BACKLOG', 'WAITING', 'PENDING', 'BLOCKED'];
  process.stdout.write(toTextTable([head, ...channels.map((row) => toChannelCells(row, nowMs))]));
  for (const { channel, why } of channels) if (why !== undefined) tell(`${channel}: ${toVisibleLine(why)}`);
}

/** Stores a token. The daemon asks the service first, so that a wrong one changes nothing. */
export async function logIn(command: ChannelCommand<ChannelFlags>): Promise<void> {
  const { channel } = command.flags;
  const token = await readSecret('Token of the bot: ');
  const { bot } = await ask(command, async (client) => {
    const found = await client.call('channel.test', { channel, token });
    const { hash } = await client.call('config.get', {});
    const raw = JSON.stringify({ channels: { [channel]: { botToken: token, botTokenEnv: null } } });
    await client.call('config.patch', { raw, baseHash: hash });
    return found;
  });
  tell(`Stored the token of @${toVisibleLine(bot)}. Write to it; then approve your code: headgate channel pair CODE`);
}

export async function testChannel(command: ChannelCommand<TestFlags>): Promise<void> {
  const { channel, json } = command.flags;
  const found = await ask(command, (client) => client.call('channel.test', { channel }));
  if (json) print(found);
  else tell(`${channel} accepts the token of @${toVisibleLine(found.bot)} (${found.account}).`);
}

export async function listSenders(command: ChannelCommand<JsonFlags>): Promise<void> {
  const { senders, nameOf } = await ask(command, async (client) => {
    const listed = await client.call('channel.sender.list', {});
    return {
      ...listed,
      nameOf: await readUserNames(
        client,
        listed.senders.map(({ userId }) => userId),
      ),
    };
  });
  if (command.flags.json) return print(senders);
  if (senders.length === 0) return tell('Nobody has asked to write yet.');
  const nowMs = systemClock.now();
  const head = ['CHANNEL', 'SENDER', 'NAME', 'STATUS', 'USER', 'BLOCKED', 'CHANGED'];
  process.stdout.write(toTextTable([head, ...senders.map((sender) => toSenderCells(sender, { nameOf, nowMs }))]));
}

/** Approves the person who received the code. */
export async function pairSender(code: string, command: ChannelCommand<PairFlags>): Promise<void> {
  const { channel, user, json } = command.flags;
  const paired = await ask(command, (client) => client.call('channel.pair', { channel, code, user }));
  if (json) print(paired);
  else tell(`Approved: ${toVisibleLine(paired.name)} (${paired.senderId}) may now write on ${paired.channel}.`);
}

export async function revokeSender(which: string, command: ChannelCommand<ChannelFlags>): Promise<void> {
  const { channel } = command.flags;
  await ask(command, async (client) => {
    const senderId = await findSender(client, { channel, which });
    await client.call('channel.revoke', { channel, senderId });
    tell(`Revoked: ${senderId} may no longer write on ${channel}.`);
  });
}

/** Nothing changes for a person who is not revoked. */
export async function restoreSender(which: string, command: ChannelCommand<ChannelFlags>): Promise<void> {
  const { channel } = command.flags;
  await ask(command, async (client) => {
    const senderId = await findSender(client, { channel, which });
    const { restored } = await client.call('channel.restore', { channel, senderId });
    if (!restored) return tell(`Nothing changed: ${senderId} is not revoked on ${channel}.`);
    tell(
      `Restored: ${senderId} gets a code with the next message on ${channel}, or may write if allowFrom has the number.`,
    );
  });
}

/** Lists what was sent. Parts whose arrival is unknown are counted below the table. */
export async function listParts(command: ChannelCommand<LogFlags>): Promise<void> {
  const limit = Number(command.flags.limit);
  if (!Number.isInteger(limit) || limit < 1 || limit > 500)
    throw new UsageError(`--limit must be a number from 1 to 500, not "${command.flags.limit}".`);
  const { parts } = await ask(command, (client) => client.call('channel.part.list', { limit }));
  if (command.flags.json) return print(parts);
  if (parts.length === 0) return tell('Nothing has been sent to a chat yet.');
  const head = ['TIME (UTC)', 'CHANNEL', 'TO', 'STATE', 'ID', 'MESSAGE', 'PART', 'REASON'];
  process.stdout.write(toTextTable([head, ...parts.map(toPartCells)]));
  const unclear = parts.filter(({ state }) => state === 'ambiguous').length;
  if (unclear > 0) tell(`Arrival unknown: ${unclear}. Check these chats before sending the messages again.`);
}

async function ask<T>({ flags, around, root }: ChannelCommand, use: (client: GatewayClient) => Promise<T>): Promise<T> {
  const target = await resolveTarget(flags, around);
  return withClient({ target, version: await readVersion(root) }, use);
}

/** A number is taken as it is, because the configuration may allow people who have never asked. */
async function findSender(
  client: GatewayClient,
  { channel, which }: { channel: string; which: string },
): Promise<string> {
  if (/^\d+$/.test(which)) return which;
  const { senders } = await client.call('channel.sender.list', {});
  const found = senders.filter((sender) => sender.channel === channel && sender.name === which);
  const [sender] = found;
  if (sender === undefined)
    throw new NotFoundError(`Unknown sender "${toVisibleLine(which)}". List senders with: headgate channel senders`);
  if (found.length > 1) throw new UsageError(`Several senders are called "${toVisibleLine(which)}": use the number.`);
  return sender.senderId;
}

const NONE = '-';
const visible = (text: string | undefined): string => (text === undefined ? NONE : toVisibleLine(text));

function toChannelCells(row: ChannelRow, nowMs: number): string[] {
  const ago = (atMs: number | undefined) => (atMs === undefined ? NONE : toDistance(atMs, nowMs));
  const { channel, state, sinceMs, bot, lastInAtMs, lastOutAtMs, backlog, waiting, pending, blocked } = row;
  const counts = [backlog, waiting, pending, blocked].map(String);
  return [channel, state, ago(sinceMs), visible(bot), ago(lastInAtMs), ago(lastOutAtMs), ...counts];
}

interface About {
  nameOf(userId: string): string;
  nowMs: number;
}

function toSenderCells(sender: ChannelSender, { nameOf, nowMs }: About): string[] {
  const { channel, senderId, name, status, userId, blocked, updatedAtMs } = sender;
  const changed = toDistance(updatedAtMs, nowMs);
  return [
    channel,
    visible(senderId),
    visible(name),
    status,
    visible(userId && nameOf(userId)),
    String(blocked),
    changed,
  ];
}

const toPartCells = ({ atMs, channel, to, state, providerId, messageId, part, reason }: ChannelPart): string[] => [
  new Date(atMs).toISOString().slice(0, 19).replace('T', ' '),
  channel,
  visible(to),
  state,
  visible(providerId),
  visible(messageId),
  String(part + 1),
  visible(reason),
];

const print = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
const tell = (text: string): void => void process.stderr.write(`${text}\n`);
