import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { ERROR_CODES } from '../../protocol/errors.ts';
import { WorkstreamState } from '../../protocol/stream-events.ts';
import { createWholeProgram } from '../../src/cli/program.ts';
import { readMonitoring, selectorsOf } from '../../src/testing/monitoring.ts';

const read = (file: string) => readFileSync(path.resolve(import.meta.dirname, '../..', file), 'utf8');
const { dashboard, rules, expressions } = readMonitoring();
const runbook = read('docs/runbook.md');

/** Labels that Prometheus adds to every series. */
const TARGET = ['job', 'instance'];
/** Labels of Prometheus' own histograms and of Node's metrics. */
const STANDARD = ['le', 'kind'];

/** The labels of each metric in the table of the documentation. */
function documentedLabels(): Map<string, string[]> {
  const named = [...read('docs/operating.md').matchAll(/`(service_\w+)(?:\{([^}]*)\})?`/g)];
  return new Map(named.map(([, name = '', labels = '']) => [name, labels.split(',').map((label) => label.trim())]));
}

test('every alert has a section of the runbook, and every section an alert', () => {
  const sections = [...runbook.matchAll(/^## (.*)$/gm)].map(([, title]) => title);
  assert.deepEqual(
    sections,
    rules.map(({ alert }) => alert),
  );
  assert.equal(new Set(sections).size, sections.length);
});

test('every section of the runbook says what an alert means, how to look and what to do', () => {
  for (const section of runbook.split(/^## /m).slice(1)) {
    const parts = [...section.matchAll(/^\*\*(\w+)\.\*\* \S/gm)].map(([, title]) => title);
    assert.deepEqual(parts, ['Meaning', 'Look', 'Act'], section);
  }
});

test('every command that the runbook names exists', async () => {
  const around = { environment: {}, userHome: '/', cwd: '/' };
  const program = await createWholeProgram({ around: around as never, root: new URL('../../', import.meta.url) });
  const named = [...runbook.matchAll(/(?:`|^)headgate ([a-z]+)(?: ([a-z]+))?/gm)];
  assert.ok(named.length > 5);
  for (const [text, name, sub] of named) {
    const command = program.commands.find((each) => each.name() === name);
    assert.ok(command, text);
    assert.ok(sub === undefined || command.commands.some((each) => each.name() === sub), text);
  }
});

test('every rule has a severity, a summary, and a link to its section', () => {
  for (const { alert, labels, annotations } of rules) {
    assert.match(labels.severity ?? '', /^(critical|warning|info)$/, alert);
    assert.match(annotations.summary ?? '', /^[A-Z].*: \{\{ \$labels\./, alert);
    assert.equal(annotations.runbook, `docs/runbook.md#${alert.toLowerCase()}`);
  }
});

test('every word of an expression that could be a metric has matchers', () => {
  for (const expr of expressions) {
    const rest =
      expr.replaceAll(/\w+\{[^}]*\}|\[[^\]]*\]|\boffset \d+m|\bby \([^)]*\)/g, ' ').match(/\b[a-z_]\w*/g) ?? [];
    for (const word of rest) assert.ok(WORDS.has(word), `${expr}: ${word}`);
  }
});

/** The functions and keywords of the query language that the files use. */
const WORDS = new Set('absent and changes histogram_quantile increase max offset or rate sum topk unless'.split(' '));

test('every rule selects the job of the daemon, and every panel the chosen instance and data source', () => {
  for (const { alert, expr } of rules)
    for (const { name, labels } of selectorsOf(expr)) assert.equal(labels.get('job'), 'headgate', `${alert}: ${name}`);
  for (const { title, targets, datasource } of dashboard.panels) {
    if (targets === undefined) continue;
    assert.equal(datasource?.uid, `$\{datasource}`, title);
    for (const { expr } of targets)
      for (const { labels } of selectorsOf(expr))
        assert.equal(labels.get('instance'), '$instance', `${title}: ${expr}`);
  }
});

test('an expression uses only labels that its metric has', () => {
  const documented = documentedLabels();
  for (const expr of expressions) {
    const selectors = selectorsOf(expr);
    assert.notDeepEqual(selectors, [], expr);
    const known = new Set([...TARGET, ...STANDARD]);
    for (const { metric, labels } of selectors) {
      const own = documented.get(metric) ?? [];
      for (const label of own) known.add(label);
      for (const label of labels.keys()) assert.ok([...TARGET, ...own].includes(label), `${expr}: ${label}`);
    }
    const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/));
    for (const label of grouped) assert.ok(known.has(label), `${expr}: by ${label}`);
  }
});

test('rules compare labels with values that exist', () => {
  const selectors = rules.flatMap(({ expr }) => selectorsOf(expr));
  const compared = selectors.flatMap(({ metric, labels }) =>
    [...labels].flatMap(([label, values]) => values.split('|').map((value) => ({ metric, label, value }))),
  );
  const unknown = compared.filter((each) => !valuesOf(each).includes(each.value));
  assert.deepEqual(unknown, []);
});

function valuesOf({ metric, label }: { metric: string; label: string }): readonly string[] {
  if (label === 'job') return ['headgate'];
  if (label === 'outcome') return ['ok', ...Object.keys(ERROR_CODES)];
  if (metric === 'service_machines') return ['active', 'worker', 'standby', 'lost'];
  if (label === 'queue') return ['messages', 'passwords', 'store'];
  return metric === 'service_workstreams_by_state' ? WorkstreamState.options : PARTS;
}

const PARTS = ['accepted', 'ambiguous', 'failed'];

test('panels have different ids and do not overlap', () => {
  const { panels } = dashboard;
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  const cells = new Map<string, string>();
  for (const { title, gridPos: at } of panels) {
    assert.ok(at.x + at.w <= 24, title);
    for (let x = at.x; x < at.x + at.w; x++)
      for (let y = at.y; y < at.y + at.h; y++) {
        const before = cells.get(`${x} ${y}`);
        assert.equal(before, undefined, `${title} covers ${before}`);
        cells.set(`${x} ${y}`, title);
      }
  }
});
