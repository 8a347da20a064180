import { toCanonicalJson } from '../../canonical-json.ts';
import type { ToolDefinition } from '../providers/model.ts';

/** How a tool differs from the one with its name that the requests of a conversation have. */
export interface ToolChange {
  name: string;
  kind: 'added' | 'removed' | 'arguments' | 'description';
}

/** What has changed since the prefix of a conversation was made. A tool with other arguments may be described in other words, too. */
export function findToolChanges(before: readonly ToolDefinition[], now: readonly ToolDefinition[]): ToolChange[] {
  const earlier = new Map(before.map((tool) => [tool.name, tool]));
  const present = new Set(now.map(({ name }) => name));
  return [
    ...before.flatMap(({ name }): ToolChange[] => (present.has(name) ? [] : [{ name, kind: 'removed' }])),
    ...now.flatMap((tool): ToolChange[] => {
      const kind = changeOf(earlier.get(tool.name), tool);
      return kind === undefined ? [] : [{ name: tool.name, kind }];
    }),
  ];
}

function changeOf(earlier: ToolDefinition | undefined, tool: ToolDefinition): ToolChange['kind'] | undefined {
  if (!earlier) return 'added';
  if (toCanonicalJson(earlier.parameters) !== toCanonicalJson(tool.parameters)) return 'arguments';
  return earlier.description === tool.description ? undefined : 'description';
}
