import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { z } from 'zod';

const Rule = z.strictObject({
  alert: z.string(),
  expr: z.string(),
  for: z.string().regex(/^\d+m$/),
  labels: z.record(z.string(), z.string()),
  annotations: z.record(z.string(), z.string()),
});

const Rules = z.strictObject({
  groups: z.tuple([z.strictObject({ name: z.literal('headgate'), rules: z.array(Rule) })]),
});

const Panel = z.object({
  id: z.number(),
  title: z.string(),
  gridPos: z.strictObject({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
  datasource: z.object({ uid: z.string() }).optional(),
  targets: z.array(z.object({ expr: z.string() })).optional(),
});

const Dashboard = z.object({ uid: z.literal('headgate'), panels: z.array(Panel) });

/** The dashboard and the alert rules of the documentation, and all their expressions. */
export function readMonitoring() {
  const read = (name: string) => readFileSync(new URL(`../../docs/monitoring/${name}`, import.meta.url), 'utf8');
  const dashboard = Dashboard.parse(JSON.parse(read('dashboard.json')));
  const { rules } = Rules.parse(load(read('alerts.yaml'))).groups[0];
  const shown = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  return { dashboard, rules, expressions: [...rules.map(({ expr }) => expr), ...shown] };
}

/** A series that an expression selects. */
export interface Selector {
  /** The name in the expression, such as `service_store_commit_seconds_bucket`. */
  name: string;
  /** The metric that has this series, such as `service_store_commit_seconds`. */
  metric: string;
  /** The matchers: label → value. */
  labels: ReadonlyMap<string, string>;
}

/** Finds the selectors of an expression. In these files, every selector has matchers, so a name alone is a function or a keyword. */
export const selectorsOf = (expression: string): Selector[] =>
  [...expression.matchAll(/(\w+)\{([^}]*)\}/g)].map(([, name = '', matchers = '']) => ({
    name,
    metric: name.replace(/_(bucket|sum|count)$/, ''),
    labels: new Map([...matchers.matchAll(/(\w+)=~?"([^"]*)"/g)].map(([, label = '', value = '']) => [label, value])),
  }));
