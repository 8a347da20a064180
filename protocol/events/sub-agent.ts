import { z } from 'zod';
import { MODES } from './modes.ts';

/** How a sub-agent ended. */
export const SUB_AGENT_OUTCOMES = [
  'done',
  'failed', // its model did not answer, or its answer was cut off
  'cancelled', // with the run or with the sub-agent above it, or alone by a person: see `cancelled_by`
  'limit', // it used up its turns, its tokens, its time or a budget; its text says what is done
] as const;
/** One of SUB_AGENT_OUTCOMES. */
export type SubAgentOutcome = (typeof SUB_AGENT_OUTCOMES)[number];

/** A sub-agent, as far as it is known now. */
export const subAgentShape = {
  agent_id: z.string(),
  /** The call of `task` that started it. */
  call_id: z.string(),
  /** The sub-agent that made this call; absent: the agent of the conversation. */
  parent_agent_id: z.string().optional(),
  /** From 1. */
  depth: z.int().min(1),
  /** What it is about, in a few words. */
  title: z.string(),
  /** `waiting`: until fewer sub-agents work. */
  state: z.enum(['waiting', 'running', 'ended']),
  /** Set at the end; clients should accept further ones. */
  outcome: z.enum(SUB_AGENT_OUTCOMES).optional(),
  /** The mode that it was restricted to; absent: that of the workstream. */
  mode: z.enum(MODES).optional(),
  /** The tools that it was restricted to; absent: all. */
  tools: z.array(z.string()).optional(),
  /** The alias of the model that it was given; absent: the model of the run. */
  model: z.string().optional(),
  /** How long it may work, without waits for people; absent: as long as the one that started it. */
  timeout_secs: z.int().min(1).optional(),
  /** Who cancelled it alone: the id of a credential. Present before it has ended. */
  cancelled_by: z.string().optional(),
  /** Model turns, and tool calls that it made, so far. */
  turns: z.int().min(0),
  tool_calls: z.int().min(0),
  /** Tokens of its requests and answers so far, without those of its own sub-agents. */
  tokens: z.int().min(0),
  started_ms: z.int().min(0),
  ended_ms: z.int().min(0).optional(),
};

/** A sub-agent, as lists show it. */
export const SubAgent = z.object(subAgentShape).meta({ id: 'SubAgent' });
export type SubAgent = z.infer<typeof SubAgent>;

/** Absent: the agent of the conversation, and not one of its sub-agents. */
export const ofAgent = { agent_id: z.string().optional() };
