import { Counter, Gauge, type Registry } from 'prom-client';
import { ANYONE, type Viewer } from '../sharing/perception.ts';
import { shareOf } from '../usage/last-usage.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';

type CountedData = Pick<WorkstreamData, 'wsId' | 'tokens' | 'messageCount' | 'toolCalls' | 'usage'>;

/** The loaded workstreams that a viewer perceives. */
export interface LoadedWorkstreams {
  list(viewer: Viewer): readonly { data: CountedData }[];
}

/**
 * Adds the series of single workstreams. The page has no token, so it shows only those that everyone perceives, by their
 * id alone (decision 64). They are collected at each scrape: one that was closed, unloaded or made private is gone.
 */
export function observeLoaded(registry: Registry, workstreams: LoadedWorkstreams): void {
  const labelNames = ['ws_id'];
  const registers = [registry];
  const each = (set: (labels: { ws_id: string }, data: CountedData) => void) => {
    for (const { data } of workstreams.list(ANYONE)) set({ ws_id: data.wsId }, data);
  };
  const gauge = (name: string, help: string, read: (data: CountedData) => number) =>
    new Gauge({
      name: `service_workstream_${name}`,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        each((labels, data) => this.set(labels, read(data)));
      },
    });
  const counter = (name: string, help: string, read: (data: CountedData) => number) =>
    new Counter({
      name: `service_workstream_${name}_total`,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        each((labels, data) => this.inc(labels, read(data)));
      },
    });
  gauge('info', 'Always 1, for each loaded workstream that everyone sees', () => 1);
  counter('prompt_tokens', 'Tokens that its runs sent to models since it was loaded', ({ tokens }) => tokens.prompt);
  counter('completion_tokens', 'Tokens that its runs received since it was loaded', ({ tokens }) => tokens.completion);
  counter('messages', 'Stored messages', ({ messageCount }) => messageCount);
  counter('tool_calls', 'Tool calls that have begun', ({ toolCalls }) => toolCalls);
  gauge('context_ratio', 'Used fraction of the context window', ({ usage }) => shareOf(usage).contextRatio);
}
