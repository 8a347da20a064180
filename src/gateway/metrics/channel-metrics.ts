import { Counter, Gauge, type Registry } from 'prom-client';
import type { ChunkState, InboxState } from '../store/schema/channels/channel-schema.ts';

/** How an update ended; `ignored`: it was not for us. */
export type UpdateOutcome = Exclude<InboxState, 'waiting'> | 'ignored';

/** What comes from chat services and goes to them. */
export interface ChannelMetrics {
  /** Counts an update that has ended. */
  channelUpdate(channel: string, outcome: UpdateOutcome): void;
  /** Counts a part of a message that has ended. */
  channelPart(channel: string, state: ChunkState): void;
  /** Adds the gauges. Call it once. */
  observeChannels(figures: () => readonly ChannelFigures[]): void;
}

/** A chat service that is set up. */
export interface ChannelFigures {
  channel: string;
  /** Whether it receives messages. */
  isUp: boolean;
  /** Received updates that are not handled yet. */
  backlog: number;
  /** Since the last successful poll; undefined: it is not polled. */
  silentMs: number | undefined;
}

export function createChannelMetrics(registry: Registry): ChannelMetrics {
  const registers = [registry];
  const updates = new Counter({
    name: 'service_channel_updates_total',
    help: 'Updates from chat services that were handled',
    labelNames: ['channel', 'outcome'],
    registers,
  });
  const parts = new Counter({
    name: 'service_channel_parts_total',
    help: 'Parts of messages to chat services that have ended',
    labelNames: ['channel', 'state'],
    registers,
  });
  return {
    channelUpdate: (channel, outcome) => updates.inc({ channel, outcome }),
    channelPart: (channel, state) => parts.inc({ channel, state }),
    observeChannels: (figures) => observeChannels(registry, figures),
  };
}

function observeChannels(registry: Registry, figures: () => readonly ChannelFigures[]): void {
  const gauge = (name: string, help: string, read: (of: ChannelFigures) => number | undefined) =>
    new Gauge({
      name: `service_channel_${name}`,
      help,
      labelNames: ['channel'],
      registers: [registry],
      collect() {
        this.reset(); // drops a service that is no longer set up
        for (const of of figures()) {
          const value = read(of);
          if (value !== undefined) this.set({ channel: of.channel }, value);
        }
      },
    });
  gauge('up', '1: messages of the chat service are received', ({ isUp }) => (isUp ? 1 : 0));
  gauge('backlog', 'Received updates that are not handled yet', ({ backlog }) => backlog);
  gauge('poll_age_seconds', 'Time since the last successful poll', ({ silentMs }) =>
    silentMs === undefined ? undefined : silentMs / 1000,
  );
}
