import {
  GATEWAY_EVENTS,
  type GatewayEventName,
  type GatewayEventPayload,
  type GatewayEventRow,
} from '../../../protocol/events/gateway.ts';
import type { StateVersion } from '../../../protocol/frames.ts';
import type { DirectEvent } from '../call.ts';
import type { FrameCheck } from '../frame-check.ts';
import { encodeTextFrame } from '../frame-encoding.ts';
import { type Rights, rightsFrom } from '../rights.ts';

/** A connection as a receiver of events. */
export interface Member {
  readonly rights: Rights;
  /** Must not throw. */
  deliver(frame: Buffer, dropIfSlow: boolean): void;
}

/** Changes that a member makes later. */
export interface Membership {
  /** Before the first call, a member gets all workstreams; from then on only the watched ones. */
  watch(wsId: string): void;
  unwatch(wsId: string): void;
  leave(): void;
}

/** Sends events to all clients that may see them, encoded once per set of rights. */
export interface Broadcast {
  join(member: Member): Membership;
  publish<E extends SequencedEvent>(
    event: E,
    payload: GatewayEventPayload<E>,
    options?: { stateVersion?: StateVersion },
  ): void;
  /** Sends an `agent` or `chat` event, with its payload as JSON text, to the clients that watch that workstream. */
  toWatchers(event: 'agent' | 'chat', wsId: string, payloadJson: string): void;
  /** Encodes the frame of an event for one connection. */
  encodeDirect<E extends DirectEvent>(event: E, payload: GatewayEventPayload<E>): Buffer;
  /** Whether `toWatchers` would reach any client. */
  hasWatchers(wsId: string): boolean;
  readonly size: number;
}

/** Events with a sequence number. */
export type SequencedEvent = Exclude<
  GatewayEventName,
  'agent' | 'chat' | 'workstream' | 'node.pair.token' | 'node.invoke.request' | 'node.invoke.cancel'
>;

export function createBroadcast({ check }: { check: FrameCheck }): Broadcast {
  const classes: Record<Rights, { seq: number; members: Set<Member> }> = {
    public: { seq: 0, members: new Set() },
    read: { seq: 0, members: new Set() },
    write: { seq: 0, members: new Set() },
    approve: { seq: 0, members: new Set() },
  };
  const watchers = createWatchers();

  return {
    join(member) {
      const { members } = classes[member.rights];
      members.add(member);
      const watching = watchers.join(member);
      return {
        watch: watching.watch,
        unwatch: watching.unwatch,
        leave() {
          members.delete(member);
          watching.leave();
        },
      };
    },
    publish(event, payload, { stateVersion } = {}) {
      const row: GatewayEventRow = GATEWAY_EVENTS[event];
      if (check.isDue()) check.inspect(event, row.payload, payload);
      const json = JSON.stringify(payload);
      const tail = stateVersion === undefined ? '}' : `,"stateVersion":${JSON.stringify(stateVersion)}}`;
      for (const rights of rightsFrom(row.scope)) {
        // Counted per set of rights, even without members, so that a client that joins later sees no false gap.
        const group = classes[rights];
        group.seq += 1;
        if (group.members.size === 0) continue;
        const frame = encodeTextFrame(`{"type":"event","event":"${event}","payload":${json},"seq":${group.seq}${tail}`);
        for (const member of [...group.members]) member.deliver(frame, row.dropIfSlow);
      }
    },
    toWatchers(event, wsId, payloadJson) {
      const members = watchers.of(wsId);
      if (members.length === 0) return;
      if (check.isDue()) check.inspect(event, GATEWAY_EVENTS[event].payload, JSON.parse(payloadJson));
      const frame = encodeTextFrame(`{"type":"event","event":"${event}","payload":${payloadJson}}`);
      for (const member of members) member.deliver(frame, GATEWAY_EVENTS[event].dropIfSlow);
    },
    encodeDirect(event, payload) {
      if (check.isDue()) check.inspect(event, GATEWAY_EVENTS[event].payload, payload);
      return encodeTextFrame(JSON.stringify({ type: 'event', event, payload }));
    },
    hasWatchers: watchers.has,
    get size() {
      return Object.values(classes).reduce((sum, { members }) => sum + members.size, 0);
    },
  };
}

/** Tracks who gets the output of which workstream: everyone, until a member names workstreams. */
function createWatchers() {
  const ofEvery = new Set<Member>();
  const ofOne = new Map<string, Set<Member>>();

  function forget(wsId: string, member: Member): void {
    const members = ofOne.get(wsId);
    members?.delete(member);
    if (members?.size === 0) ofOne.delete(wsId);
  }

  return {
    of: (wsId: string): Member[] => [...ofEvery, ...(ofOne.get(wsId) ?? [])],
    has: (wsId: string): boolean => ofEvery.size > 0 || ofOne.has(wsId),
    join(member: Member): Membership {
      const watched = new Set<string>();
      if (member.rights !== 'public') ofEvery.add(member);
      return {
        watch(wsId) {
          ofEvery.delete(member);
          watched.add(wsId);
          const members = ofOne.get(wsId) ?? new Set();
          ofOne.set(wsId, members.add(member));
        },
        unwatch(wsId) {
          watched.delete(wsId);
          forget(wsId, member);
        },
        leave() {
          ofEvery.delete(member);
          for (const wsId of watched) forget(wsId, member);
        },
      };
    },
  };
}
