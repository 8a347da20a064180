import { GatewayError } from '../../../protocol/errors.ts';
import type { Channel } from './channel.ts';

/** A channel and a destination that it has. */
export interface Destination {
  channel: Channel;
  /** Canonical. */
  to: string;
}

/** The ways out, by name. */
export interface Channels {
  readonly all: readonly Channel[];
  byName(name: string): Channel | undefined;
  /** Throws INVALID_REQUEST for a name nobody knows, NOT_LINKED for a channel without destinations. */
  linked(name: string): Channel;
  /**
   * Where a message is to go. Without a provider it is the first channel that has the destination. Throws as `linked`
   * does, and NOT_FOUND for a destination.
   */
  resolve(asked: { provider?: string | undefined; to: string }): Promise<Destination>;
}

export function createChannels(all: readonly Channel[]): Channels {
  const byName = new Map(all.map((channel) => [channel.name, channel]));
  const linked = (name: string) => requireLinked(byName.get(name), name, all);
  return {
    all,
    byName: (name) => byName.get(name),
    linked,
    async resolve({ provider, to }) {
      const asked = provider?.trim().toLowerCase();
      const candidates = asked ? [linked(asked)] : all;
      for (const channel of candidates) {
        const found = await channel.find(to.trim());
        if (found !== undefined) return { channel, to: found };
      }
      throw new GatewayError('NOT_FOUND', `Unknown destination: ${to.trim().slice(0, 80)}${namesOf(candidates)}`);
    },
  };
}

function requireLinked(channel: Channel | undefined, asked: string, all: readonly Channel[]): Channel {
  if (channel === undefined) {
    const known = all.map(({ name }) => name).join(', ');
    throw new GatewayError('INVALID_REQUEST', `unsupported channel: ${asked.slice(0, 80)} (there are: ${known})`);
  }
  if (channel.destinations?.length === 0) {
    throw new GatewayError(
      'NOT_LINKED',
      `${asked} has no destinations; config.json names them under channels.${asked}`,
    );
  }
  return channel;
}

function namesOf(channels: readonly Channel[]): string {
  const names = channels.flatMap(({ destinations }) => destinations ?? []);
  return names.length === 0 ? '' : ` (there are: ${names.slice(0, 20).join(', ')})`;
}
