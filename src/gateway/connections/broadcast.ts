import {
  GATEWAY_EVENTS,
  type GatewayEventName,
  type GatewayEventPayload,
  type GatewayEventRow,
} from '../../../protocol/events/gateway.ts';
import type { StateVersion } from '../../../protocol/frames.ts';
import { createTold } from '../../timing/told.ts';
import type { DirectEvent } from '../call.ts';
import type { FrameCheck } from '../frame-check.ts';
import { encodeTextFrame } from '../frame-encoding.ts';
import {
  type Audience,
  type AudienceTerms,
  audienceFrom,
  audienceOf,
  EVERYONE,
  SightCounts,
} from '../sharing/audience.ts';
import { mayPerceive, type Owned, sightOf, toWatched, type Viewer, type Watched } from '../sharing/perception.ts';
import { type Hearing, hears, KIND_OF } from './hearing.ts';

/** A connection as a receiver of events. */
export interface Receiver {
  /** Must not throw. */
  deliver(frame: Buffer, dropIfSlow: boolean): void;
}

interface Interest {
  /** Decides which events it gets. */
  readonly hearing: Hearing;
  /** Decides of which workstreams it gets events. */
  readonly viewer: Viewer;
}

/** Changes that a member makes later. */
export interface Membership {
  /** Before the first call, a member gets all workstreams; from then on only the watched ones. */
  watch(wsId: string): void;
  unwatch(wsId: string): void;
  leave(): void;
}

/**
 * Sends events to all clients that may see them. Clients for which an event has the same sequence number share one encoded
 * frame: those with the same rights, and of them, once there were events of private workstreams, those with the same sight.
 */
export interface Broadcast {
  join(receiver: Receiver, interest: Interest): Membership;
  /** An event that is about no single workstream. */
  publish<E extends DaemonEvent>(event: E, payload: GatewayEventPayload<E>, options?: PublishOptions): void;
  /** An event of a workstream, to those who perceive it, or to another audience. */
  publishOf<E extends WorkstreamEvent>(of: Owned | Audience, event: E, payload: GatewayEventPayload<E>): void;
  /** Sends an `agent` or `chat` event to the clients that watch that workstream and perceive it. */
  toWatchers(event: 'agent' | 'chat', about: Watched, payloadJson: string): void;
  /** Encodes the frame of an event for one connection. */
  encodeDirect<E extends DirectEvent>(event: E, payload: GatewayEventPayload<E>): Buffer;
  /** Calls back for each event that is told, which are those of workstreams and of jobs, for the daemon that this one tells of them. */
  onTold(listener: (told: ToldFrame) => void): void;
  /** The same event at another daemon, to its clients. */
  retell(told: ToldFrame): void;
  /** Whether any client watches the workstream. */
  hasWatchers(wsId: string): boolean;
  readonly size: number;
}

interface PublishOptions {
  stateVersion?: StateVersion | undefined;
  /** The daemon that this one tells of its events gets it, too. */
  isTold?: true | undefined;
}

/** An event, as data. */
export type ToldFrame =
  | { kind: 'event'; event: SequencedEvent; payload: unknown; terms: AudienceTerms }
  | { kind: 'watched'; event: 'agent' | 'chat'; about: Watched; payloadJson: string };

/** Events with a sequence number. */
export type SequencedEvent = Exclude<
  GatewayEventName,
  'agent' | 'chat' | 'workstream' | 'node.pair.token' | 'node.invoke.request' | 'node.invoke.cancel'
>;
/** The sequenced events that are about one workstream; the rows of the others must not name one. */
export type WorkstreamEvent = {
  [E in SequencedEvent]: (typeof GATEWAY_EVENTS)[E] extends { ofWorkstream: true } ? E : never;
}[SequencedEvent];
type DaemonEvent = Exclude<SequencedEvent, WorkstreamEvent>;

export function createBroadcast({ check }: { check: FrameCheck }): Broadcast {
  const groups = new Map<Hearing, Group>();
  const counts = new Counts();
  const watchers = new Watchers();
  const told = createTold<ToldFrame>();

  function publish(
    { event, payload, stateVersion, isTold }: { event: SequencedEvent; payload: unknown } & PublishOptions,
    audience: Audience,
  ): void {
    const row: GatewayEventRow = GATEWAY_EVENTS[event];
    if (check.isDue()) check.inspect(event, row.payload, payload);
    const json = JSON.stringify(payload);
    const tail = stateVersion === undefined ? '}' : `,"stateVersion":${JSON.stringify(stateVersion)}}`;
    const kind = KIND_OF[event];
    counts.add(kind, audience);
    const frames = new Map<number, Buffer>();
    const frameOf = (seq: number) => {
      const frame =
        frames.get(seq) ?? encodeTextFrame(`{"type":"event","event":"${event}","payload":${json},"seq":${seq}${tail}`);
      frames.set(seq, frame);
      return frame;
    };
    for (const [hearing, group] of groups) {
      if (!hears(hearing, kind)) continue;
      const frameFor = (sight: string) => frameOf(counts.of(hearing, sight));
      group.send(audience, { frameFor, dropIfSlow: row.dropIfSlow });
    }
    if (isTold) told.tell(() => ({ kind: 'event', event, payload, terms: audience.terms }));
  }

  function toWatchers(event: 'agent' | 'chat', { wsId, ownerId, visibility }: Watched, payloadJson: string): void {
    const watching = watchers.of(wsId);
    const isForAll = visibility === 'shared';
    const members = isForAll ? watching : watching.filter(({ viewer }) => mayPerceive(viewer, { ownerId, visibility }));
    if (members.length === 0) return;
    if (check.isDue()) check.inspect(event, GATEWAY_EVENTS[event].payload, JSON.parse(payloadJson));
    const frame = encodeTextFrame(`{"type":"event","event":"${event}","payload":${payloadJson}}`);
    for (const { receiver } of members) receiver.deliver(frame, GATEWAY_EVENTS[event].dropIfSlow);
  }

  return {
    join(receiver, { hearing, viewer }) {
      const group = groups.get(hearing) ?? new Group();
      groups.set(hearing, group);
      return new Member({ receiver, hearing, viewer, group, watchers });
    },
    publish: (event, payload, { stateVersion, isTold } = {}) =>
      publish({ event, payload, stateVersion, isTold }, EVERYONE),
    publishOf: (of, event, payload) =>
      publish({ event, payload, isTold: true }, 'includes' in of ? of : audienceOf(of)),
    toWatchers(event, about, payloadJson) {
      toWatchers(event, about, payloadJson);
      told.tell(() => ({ kind: 'watched', event, about: toWatched(about), payloadJson }));
    },
    onTold: told.add,
    retell(news) {
      if (news.kind === 'watched') toWatchers(news.event, news.about, news.payloadJson);
      else publish(news, audienceFrom(news.terms));
    },
    encodeDirect(event, payload) {
      if (check.isDue()) check.inspect(event, GATEWAY_EVENTS[event].payload, payload);
      return encodeTextFrame(JSON.stringify({ type: 'event', event, payload }));
    },
    hasWatchers: (wsId) => watchers.has(wsId),
    get size() {
      return [...groups.values()].reduce((sum, group) => sum + group.size, 0);
    },
  };
}

/** Counts the events of each kind, so that a client's sequence number is the count of what it may see. */
class Counts {
  readonly #byKind: SightCounts[] = [];

  add(kind: number, audience: Audience): void {
    this.#byKind[kind] ??= new SightCounts();
    this.#byKind[kind].add(audience);
  }

  of(hearing: Hearing, sight: string): number {
    return this.#byKind.reduce((sum, counts, kind) => (hears(hearing, kind) ? sum + counts.of(sight) : sum), 0);
  }
}

/** The members with the same rights, by sight. Those with the same sight get the same events with the same numbers. */
class Group {
  readonly #bySight = new Map<string, { viewer: Viewer; members: Set<Member> }>();

  get size(): number {
    return [...this.#bySight.values()].reduce((sum, { members }) => sum + members.size, 0);
  }

  add(member: Member): void {
    const { viewer } = member;
    const sight = sightOf(viewer);
    const same = this.#bySight.get(sight) ?? { viewer, members: new Set() };
    this.#bySight.set(sight, same);
    same.members.add(member);
  }

  delete(member: Member): void {
    const sight = sightOf(member.viewer);
    const same = this.#bySight.get(sight);
    same?.members.delete(member);
    if (same?.members.size === 0) this.#bySight.delete(sight);
  }

  send(audience: Audience, { frameFor, dropIfSlow }: { frameFor(sight: string): Buffer; dropIfSlow: boolean }): void {
    for (const [sight, { viewer, members }] of [...this.#bySight]) {
      if (!audience.includes(viewer)) continue;
      const frame = frameFor(sight);
      for (const { receiver } of [...members]) receiver.deliver(frame, dropIfSlow);
    }
  }
}

/** Tracks who gets the output of which workstream: everyone, until a member names workstreams. */
class Watchers {
  readonly #ofEvery = new Set<Member>();
  readonly #ofOne = new Map<string, Set<Member>>();

  of(wsId: string): Member[] {
    return [...this.#ofEvery, ...(this.#ofOne.get(wsId) ?? [])];
  }

  has(wsId: string): boolean {
    return this.#ofEvery.size > 0 || this.#ofOne.has(wsId);
  }

  addOfEvery(member: Member): void {
    this.#ofEvery.add(member);
  }

  deleteOfEvery(member: Member): void {
    this.#ofEvery.delete(member);
  }

  add(wsId: string, member: Member): void {
    const members = this.#ofOne.get(wsId) ?? new Set();
    this.#ofOne.set(wsId, members.add(member));
  }

  delete(wsId: string, member: Member): void {
    const members = this.#ofOne.get(wsId);
    members?.delete(member);
    if (members?.size === 0) this.#ofOne.delete(wsId);
  }
}

interface MemberParts extends Interest {
  receiver: Receiver;
  group: Group;
  watchers: Watchers;
}

/** A class because there are many instances, which share its methods. */
class Member implements Membership, Interest {
  readonly receiver: Receiver;
  readonly hearing: Hearing;
  readonly viewer: Viewer;
  readonly #group: Group;
  readonly #watchers: Watchers;
  /** Created on demand, because many clients only listen. */
  #watched: Set<string> | undefined;

  constructor({ receiver, hearing, viewer, group, watchers }: MemberParts) {
    this.receiver = receiver;
    this.hearing = hearing;
    this.viewer = viewer;
    this.#group = group;
    this.#watchers = watchers;
    group.add(this);
    if (hears(hearing, KIND_OF.agent)) watchers.addOfEvery(this);
  }

  watch(wsId: string): void {
    this.#watchers.deleteOfEvery(this);
    this.#watched ??= new Set();
    this.#watched.add(wsId);
    this.#watchers.add(wsId, this);
  }

  unwatch(wsId: string): void {
    this.#watched?.delete(wsId);
    this.#watchers.delete(wsId, this);
  }

  leave(): void {
    this.#group.delete(this);
    this.#watchers.deleteOfEvery(this);
    for (const wsId of this.#watched ?? []) this.#watchers.delete(wsId, this);
  }
}
