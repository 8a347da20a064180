import { GatewayError } from '../../../protocol/errors.ts';
import type { Notice } from '../../../protocol/notice.ts';
import type { Viewer } from '../sharing/perception.ts';
import type { Channel } from './channel.ts';

/** A channel and one of its destinations. */
export interface Destination {
  channel: Channel;
  /** The canonical name. */
  to: string;
}

/** All channels, by name. */
export interface Channels {
  readonly all: readonly Channel[];
  byName(name: string): Channel | undefined;
  /** Whether messages can be sent over it. */
  isLinked(name: string): boolean;
  /** What a sender should know before, as fields of an answer. */
  noticesOf(name: string): { notices?: Notice[] };
  /** Throws INVALID_REQUEST for an unknown name, NOT_LINKED for a channel that is not set up. */
  linked(name: string): Channel;
  /**
   * Finds the channel and destination for a message. Without a provider, the first channel with that destination.
   * Throws like `linked`, and NOT_FOUND for an unknown destination.
   */
  resolve(asked: { provider?: string | undefined; to: string; viewer: Viewer }): Promise<Destination>;
}

export function createChannels(all: readonly Channel[]): Channels {
  const byName = new Map(all.map((channel) => [channel.name, channel]));
  const linked = (name: string) => requireLinked(byName.get(name), name, all);
  return {
    all,
    byName: (name) => byName.get(name),
    isLinked: (name) => isSetUp(byName.get(name)),
    noticesOf(name) {
      const notice = byName.get(name)?.notice;
      return notice === undefined ? {} : { notices: [notice] };
    },
    linked,
    async resolve({ provider, to, viewer }) {
      const asked = provider?.trim().toLowerCase();
      const candidates = asked ? [linked(asked)] : all;
      for (const channel of candidates) {
        const found = await channel.find(to.trim(), viewer);
        if (found !== undefined) return { channel, to: found };
      }
      throw new GatewayError('NOT_FOUND', `Unknown destination: ${to.trim().slice(0, 80)}${namesOf(candidates)}`);
    },
  };
}

/** The providers of the specification, also where they cannot be set up. */
const PROVIDERS = ['telegram', 'whatsapp'];

const isSetUp = (channel: Channel | undefined): boolean => channel !== undefined && channel.destinations?.length !== 0;

function requireLinked(channel: Channel | undefined, asked: string, all: readonly Channel[]): Channel {
  if (channel !== undefined && isSetUp(channel)) return channel;
  if (channel === undefined && !PROVIDERS.includes(asked)) {
    const known = all.map(({ name }) => name).join(', ');
    throw new GatewayError('INVALID_REQUEST', `unsupported channel: ${asked.slice(0, 80)} (available: ${known})`);
  }
  const problem = PROVIDERS.includes(asked) ? 'is not set up; add it' : 'has no destinations; add them';
  throw new GatewayError('NOT_LINKED', `${asked} ${problem} to config.json under channels.${asked}`);
}

function namesOf(channels: readonly Channel[]): string {
  const names = channels.flatMap(({ destinations }) => destinations ?? []);
  return names.length === 0 ? '' : ` (available: ${names.slice(0, 20).join(', ')})`;
}
