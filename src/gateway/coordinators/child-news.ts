import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { mayPerceive, type Owned, sightInCommon } from '../sharing/perception.ts';
import type { Unit, UnitEvents } from '../store/store.ts';
import type { Unloading } from '../workstreams/closing.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';

/** A workstream, as far as its coordinator is told of it. */
type Told = Owned & Pick<WorkstreamData, 'wsId' | 'name' | 'parentWsId'>;
type Loaded = Told & Pick<WorkstreamData, 'kind' | 'state'>;

/**
 * What coordinators are told of their own children: events in their logs, which are committed together with what they are
 * about. A log is read by everybody who perceives its workstream, so it tells only of children that all of them perceive.
 */
export class ChildNews {
  readonly #nodeId: string;
  /** Those that are loaded. */
  readonly #children = new Map<string, Loaded>();
  /** Those that are not closed, loaded or not. */
  readonly #coordinators = new Map<string, Owned>();

  constructor({ nodeId }: { nodeId: string }) {
    this.#nodeId = nodeId;
  }

  /** Somebody else may perceive a coordinator now, or it is one that is not loaded. */
  noteCoordinator(wsId: string, { ownerId, visibility }: Owned): void {
    this.#coordinators.set(wsId, { ownerId, visibility });
  }

  /** Whether it is known as a coordinator that is not closed. */
  knows(wsId: string): boolean {
    return this.#coordinators.has(wsId);
  }

  loaded(data: Loaded): void {
    if (data.kind === 'coordinator') this.noteCoordinator(data.wsId, data);
    this.#children.set(data.wsId, data);
  }

  unloaded({ wsId }: Pick<Told, 'wsId'>, reason: Unloading): void {
    this.#children.delete(wsId);
    if (reason === 'closed') this.forget(wsId);
  }

  /** A coordinator that was closed or deleted is told nothing more. */
  forget(wsId: string): void {
    this.#coordinators.delete(wsId);
  }

  /** To commit with the row of a child that is made or opened again. */
  ofCreated(child: Told): UnitEvents[] {
    return this.#tell(child, [this.#created(child)]);
  }

  /** To commit with the end of a child. */
  ofClosed(child: Told): UnitEvents[] {
    return this.#tell(child, [{ type: 'child_ws_closed', child_ws_id: child.wsId }]);
  }

  /** What the events of a unit mean for the coordinator of their workstream. */
  of({ events: unit }: Pick<Unit, 'events'>): UnitEvents[] {
    const child = unit && this.#children.get(unit.wsId);
    if (!child || child.parentWsId === null) return [];
    return unit.events.flatMap((event) => this.#ofEvent(child, event));
  }

  #ofEvent(child: Loaded, event: StreamEvent): UnitEvents[] {
    switch (event.type) {
      case 'ws_state':
        return this.#tell(child, [{ type: 'child_ws_state', child_ws_id: child.wsId, state: event.state }]);
      case 'ws_rename':
        return this.#tell(child, [renamed(child, event.name)]);
      case 'settings_changed':
        return event.name === child.name ? [] : this.#tell(child, [renamed(child, event.name)]);
      default:
        return [];
    }
  }

  /** The events that tell the coordinator of a change of who perceives its child. */
  ofShared(child: Loaded, before: Owned): UnitEvents[] {
    const [was, is] = [
      this.#isTold({ parentWsId: child.parentWsId, ownerId: before.ownerId, visibility: before.visibility }),
      this.#isTold(child),
    ];
    if (was === is) return [];
    if (is) return this.#tell(child, [this.#created(child), stateOf(child)]);
    const parent = child.parentWsId;
    return parent === null ? [] : [{ wsId: parent, events: [{ type: 'child_ws_closed', child_ws_id: child.wsId }] }];
  }

  #created({ wsId, name, parentWsId }: Told): StreamEvent {
    return {
      type: 'child_ws_created',
      child_ws_id: wsId,
      node_id: this.#nodeId,
      name,
      parent_ws_id: parentWsId ?? '',
    };
  }

  #tell(child: Told, events: StreamEvent[]): UnitEvents[] {
    return child.parentWsId !== null && this.#isTold(child) ? [{ wsId: child.parentWsId, events }] : [];
  }

  #isTold(child: Owned & Pick<Told, 'parentWsId'>): boolean {
    const parent = child.parentWsId === null ? undefined : this.#coordinators.get(child.parentWsId);
    return parent !== undefined && mayPerceive(sightInCommon(parent), child);
  }
}

const stateOf = ({ wsId, state }: Loaded): StreamEvent => ({ type: 'child_ws_state', child_ws_id: wsId, state });

const renamed = ({ wsId }: Told, name: string): StreamEvent => ({
  type: 'child_ws_rename',
  child_ws_id: wsId,
  name,
});
