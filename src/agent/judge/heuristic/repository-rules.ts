import type { Finding } from '../assessment.ts';
import { hasOption, type Program } from './judged-program.ts';

const destructive = (why: string): Finding => ({ rule: 'destructive-git', level: 'high', why });
const REMOTE_CODE: Finding = { rule: 'git-config', level: 'high', why: 'It changes which programs git runs.' };

const GLOBAL_WITH_VALUE = /^(-c|-C|--git-dir|--work-tree|--namespace|--exec-path|--config-env)$/;
const RUNS =
  /^(core\.(hookspath|sshcommand|pager|editor|fsmonitor|gitproxy|askpass)|alias\.|credential\.|filter\.|diff\.(external|.*\.command)|merge\..*\.driver|gpg\..*program|url\..*insteadof|init\.templatedir|sequence\.editor|protocol\.|http\.(proxy|sslverify)|uploadpack\.|remote\..*\.(uploadpack|receivepack|proxy))/i;

interface GitCall {
  command: string;
  program: Pick<Program, 'args'>;
  operands: readonly string[];
  settings: readonly string[];
}

/** Splits what is given to git itself from the command and its words. */
function toGitCall({ args }: Program): GitCall {
  const settings: string[] = [];
  let at = 0;
  for (; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    if (GLOBAL_WITH_VALUE.test(arg)) {
      if (arg === '-c' || arg === '--config-env') settings.push(args[at + 1] ?? '');
      at += 1;
    } else if (!arg.startsWith('-')) break;
  }
  const rest = args.slice(at + 1);
  return {
    command: args[at] ?? '',
    program: { args: rest },
    operands: rest.filter((one) => !one.startsWith('-')),
    settings,
  };
}

/** What git is asked to do. */
export function ofGit(program: Program): Finding | undefined {
  const call = toGitCall(program);
  if (call.settings.some((one) => RUNS.test(one))) return REMOTE_CODE;
  return BY_COMMAND[call.command]?.(call);
}

const BY_COMMAND: Record<string, (call: GitCall) => Finding | undefined> = {
  reset: ({ program }) =>
    hasOption(program, '--hard', '--merge') ? destructive('It throws away changes that are not committed.') : undefined,
  push: ({ program, operands }) => {
    const isForced =
      hasOption(program, '-f', '--force', '--force-with-lease', '--mirror', '--delete', '-d', '--prune') ||
      operands.slice(1).some((ref) => /^[+:]/.test(ref));
    return isForced
      ? destructive('It replaces or deletes what others have in the repository.')
      : { rule: 'git-push', level: 'medium', why: 'It publishes commits.' };
  },
  clean: ({ program }) =>
    hasOption(program, '-f', '--force') && !hasOption(program, '-n', '--dry-run')
      ? destructive('It deletes files that git does not know.')
      : undefined,
  checkout: ({ program, operands }) =>
    program.args.includes('--') || operands.includes('.') || hasOption(program, '-f', '--force')
      ? destructive('It throws away changes that are not committed.')
      : undefined,
  restore: ({ program }) =>
    hasOption(program, '--staged', '-S') && !hasOption(program, '--worktree', '-W')
      ? undefined
      : destructive('It throws away changes that are not committed.'),
  switch: ({ program }) =>
    hasOption(program, '-f', '--force', '--discard-changes')
      ? destructive('It throws away changes that are not committed.')
      : undefined,
  branch: ({ program }) =>
    hasOption(program, '-D') || (hasOption(program, '-d', '--delete') && hasOption(program, '-f', '--force'))
      ? destructive('It deletes a branch that may not be merged.')
      : undefined,
  stash: ({ operands }) =>
    /^(drop|clear)$/.test(operands[0] ?? '') ? destructive('It deletes stashed changes.') : undefined,
  reflog: ({ operands }) =>
    /^(expire|delete)$/.test(operands[0] ?? '') ? destructive('It deletes what could be recovered.') : undefined,
  'filter-branch': () => destructive('It rewrites all commits.'),
  'filter-repo': () => destructive('It rewrites all commits.'),
  'update-ref': ({ program }) =>
    hasOption(program, '-d', '--stdin') ? destructive('It deletes a reference.') : undefined,
  gc: ({ program }) =>
    program.args.some((arg) => /^--prune(=now|=all)?$/.test(arg))
      ? destructive('It deletes what could be recovered.')
      : undefined,
  tag: ({ program }) =>
    hasOption(program, '-d', '--delete', '-f', '--force') ? destructive('It deletes or moves a tag.') : undefined,
  remote: ({ operands }) =>
    /^(add|set-url)$/.test(operands[0] ?? '')
      ? { rule: 'git-config', level: 'medium', why: 'It changes where commits come from and go to.' }
      : undefined,
  config: ({ operands, program }) => {
    if (operands.length < 2 && !hasOption(program, '--unset', '--unset-all', '--remove-section', '-e', '--edit'))
      return undefined;
    if (operands.some((one) => RUNS.test(one))) return REMOTE_CODE;
    return hasOption(program, '--global', '--system')
      ? { rule: 'git-config', level: 'high', why: 'It changes git for all projects.' }
      : undefined;
  },
  submodule: ({ operands }) =>
    /^(add|update|foreach)$/.test(operands[0] ?? '')
      ? {
          rule: 'transitive-install',
          level: operands[0] === 'foreach' ? 'medium' : 'medium',
          why: 'It fetches other repositories.',
        }
      : undefined,
};
