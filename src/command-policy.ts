import { z } from 'zod';
import { fitsStars } from './star-pattern.ts';

/** What may be asked of a node, besides that it has declared it: patterns of command names, `*` for any characters. */
const NodeRules = z.object({
  /** Nothing else; left out: the commands that are known to run no programs. */
  allow: z.array(z.string().min(1).max(128)).optional(),
  /** Never, whatever is allowed. */
  deny: z.array(z.string().min(1).max(128)).default([]),
});

/** By node id; `*` holds for every node, together with the node's own. */
export const NodesConfig = z.record(z.string().min(1), NodeRules);
export type NodesConfig = z.infer<typeof NodesConfig>;

/** Why a command may not be sent to a node; undefined when it may. */
export type CommandPolicy = (nodeId: string, command: string) => string | undefined;

export function createCommandPolicy(config: NodesConfig): CommandPolicy {
  return (nodeId, command) => {
    const rules = ['*', nodeId].flatMap((name) => (Object.hasOwn(config, name) ? [config[name]] : []));
    const denied = rules.flatMap((rule) => rule?.deny ?? []);
    if (denied.some((pattern) => fitsStars(pattern, command))) return 'denied by config.json';
    const allowLists = rules.flatMap((rule) => (rule?.allow === undefined ? [] : [rule.allow]));
    if (allowLists.flat().some((pattern) => fitsStars(pattern, command))) return undefined;
    if (allowLists.length > 0) return 'not allowed by config.json';
    if (HARMLESS.has(command)) return undefined;
    return `may run programs, which config.json has to allow first, as by ${toAllowance(nodeId)}`;
  };
}

/** What to write into config.json so that a node may be sent whatever a `headgate node run` lends. */
export const toAllowance = (nodeId: string): string =>
  `nodes: {${JSON.stringify(nodeId)}: {allow: ["system.*", "file.*"]}}`;

/**
 * Commands that run no programs. They are compared whole: a name says nothing that can be trusted about other commands
 * (`python.read`, `sudo.write`).
 */
const HARMLESS: ReadonlySet<string> = new Set([
  ...['camera.list', 'camera.snap', 'file.read', 'file.write', 'location.get', 'system.info', 'system.notify'],
]);
