import { isRecord } from '../../../../protocol/is-record.ts';
import type { Verdict } from './audit-pages.ts';

/** The actions that the daemon records, for the filter. A test compares them with the protocol's rows. */
export const AUDIT_ACTIONS = [
  'approval.resolve',
  'auth.confirm',
  'auth.link',
  'auth.login',
  'auth.logout',
  'auth.password',
  'auth.setup',
  'budget.set',
  'channel.pair',
  'channel.restore',
  'channel.revoke',
  'checkpoint.redo',
  'checkpoint.undo',
  'command.connect',
  'command.outside',
  'config.patch',
  'config.reload',
  'config.set',
  'coordinator.closed_children',
  'coordinator.restricted',
  'coordinator.stopped_cascade',
  'coordinator.trust.toggled',
  'cron.add',
  'cron.remove',
  'cron.run',
  'cron.update',
  'daemon.restart',
  'file.discard',
  'heartbeats.set',
  'mcp.accept',
  'mcp.consent',
  'mcp.consent.begin',
  'mcp.consent.remove',
  'mcp.consent.revoke',
  'mcp.create',
  'mcp.delete',
  'mcp.import',
  'mcp.install',
  'mcp.refresh',
  'mcp.reload',
  'mcp.reveal',
  'mcp.update',
  'memory.delete',
  'memory.discard',
  'memory.release',
  'memory.save',
  'node.pair.approve',
  'node.pair.reject',
  'node.rename',
  'node.token.revoke',
  'node.token.rotate',
  'org.update',
  'plan.resolve',
  'policy.create',
  'policy.delete',
  'policy.update',
  'push.remove',
  'push.subscribe',
  'role.assign',
  'role.create',
  'role.delete',
  'role.unassign',
  'role.update',
  'rule.create',
  'rule.delete',
  'rule.update',
  'secrets.rotate',
  'sessions.delete',
  'sessions.expire',
  'setting.delete',
  'setting.update',
  'skill.create',
  'skill.delete',
  'skill.install',
  'skill.rescan',
  'skill.resource_create',
  'skill.resource_delete',
  'skill.update',
  'template.create',
  'template.delete',
  'template.update',
  'token.create',
  'token.refresh',
  'token.revoke',
  'user.create',
  'user.delete',
  'user.identity.add',
  'user.identity.remove',
  'user.update',
  'voicewake.set',
  'workstream.allow',
  'workstream.move',
  'workstream.share',
  'ws_template.create',
  'ws_template.delete',
  'ws_template.update',
] as const;

const PROBLEMS: Record<NonNullable<Verdict['problem']>, string> = {
  changed: 'it is not as it was written',
  missing: 'it is missing',
  truncated: 'the newest records are missing',
  signature: 'the signature of the newest record is not valid',
};

/** The result of a verification as a sentence. */
const HEADS: Record<NonNullable<Verdict['head']>, string> = {
  missing: 'The file with the signature is missing, so somebody removed it',
  older: 'The file with the signature is an older version of itself, so somebody put it back',
};

export function toVerdictWords({ ok, checked, brokenAt, problem, head }: Verdict): string {
  const count = `${checked.toLocaleString('en-US')} record${checked === 1 ? '' : 's'}`;
  if (ok) return `Verified: all ${count} are as they were written, and none is missing.`;
  const where = brokenAt === undefined ? '' : `Record ${brokenAt.toLocaleString('en-US')}: `;
  const told = [
    head !== undefined && `${HEADS[head]}.`,
    (problem !== undefined || head === undefined) &&
      `${where}${problem === undefined ? 'the records do not fit together' : PROBLEMS[problem]}.`,
  ].filter((sentence) => sentence !== false);
  return `Not intact. ${told.join(' ')} Checked: ${count}.`;
}

/**
 * The details of a record, such as `username: "eve" · roles: "viewer", "editor"`. Texts keep their quotes: somebody chose
 * them, and without quotes one could look like another detail.
 */
export function toDetailWords(detail: string): string {
  const parsed = parseRecord(detail);
  if (parsed === undefined) return detail;
  return Object.entries(parsed)
    .map(([key, value]) => `${key}: ${Array.isArray(value) ? toListWords(value) : JSON.stringify(value)}`)
    .join(' · ');
}

const toListWords = (values: readonly unknown[]): string =>
  values.length === 0 ? 'none' : values.map((value) => JSON.stringify(value)).join(', ');

function parseRecord(text: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    return undefined; // not JSON
  }
}
