import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { App, Desk } from '../app.ts';
import { ConsentBoard } from '../consents/consent-board.ts';
import { MemoryBoard } from '../memories/memory-board.ts';
import { ServerBoard } from '../servers/server-board.ts';
import { SkillBoard } from '../skills/skill-board.ts';
import { WatchBoard } from '../watches/watch-board.ts';

/** The parts of the agent view: what the agent has besides its conversations. */
export type AgentPart = 'watches' | 'memories' | 'skills' | 'servers';

/** Their titles, in the order in which they are listed. */
export const AGENT_PARTS: Record<AgentPart, string> = {
  watches: 'Watches',
  memories: 'Memories',
  skills: 'Skills',
  servers: 'Tool servers',
};

/** What the agent view shows. Nothing is read until it is shown. */
export interface AgentPanel {
  /** The chosen part. Without the right to see it, the first one is shown that may be seen. */
  part: Signal<AgentPart>;
  watches: WatchBoard;
  memories: MemoryBoard;
  skills: SkillBoard;
  servers: ServerBoard;
  consents: ConsentBoard;
}

const opened = new WeakMap<Desk, AgentPanel>();

/** That of a desk, made when it is first shown: its code is not loaded before. */
export function agentPanelOf(desk: Desk): AgentPanel {
  const panel = opened.get(desk) ?? createAgentPanel(desk);
  opened.set(desk, panel);
  return panel;
}

const createAgentPanel = ({ client, workstreams }: Desk): AgentPanel => ({
  part: signal('watches'),
  watches: new WatchBoard({ client, changed: workstreams.watched }),
  memories: new MemoryBoard(client),
  skills: new SkillBoard(client),
  servers: new ServerBoard(client),
  consents: new ConsentBoard(client),
});

type Rights = Pick<App['rights'], 'write'>;

/** The parts that a person with these rights sees. */
export function partsFor({ write }: Rights): AgentPart[] {
  const needs: Record<AgentPart, ReadonlySignal<boolean> | undefined> = {
    watches: write,
    memories: undefined,
    skills: undefined,
    servers: write, // those who may not see the servers see their own accounts there
  };
  return (['watches', 'memories', 'skills', 'servers'] as const).filter((part) => needs[part]?.value ?? true);
}
