import type { Command } from 'commander';
import type { Surroundings } from '../../../home/home-path.ts';
import type { TargetFlags } from '../../connect.ts';
import { refuseUnknown } from '../../default-command.ts';
import type { AuditFlags } from './audit.ts';
import type { AddFlags, IdentityFlags, RoleFlags } from './user.ts';

interface AccountCommandsDeps {
  root: URL;
  around: Surroundings;
  /** Adds the flags that choose the daemon. */
  withTarget(command: Command): Command;
}

/** Adds `headgate user`, for the people who may log in, and `headgate audit`, for what they did. */
export function addAccountCommands(program: Command, deps: AccountCommandsDeps): void {
  addUsers(program, deps);
  addAudit(program, deps);
}

function addUsers(program: Command, { root, around, withTarget }: AccountCommandsDeps): void {
  const user = program.command('user').description('manage the people who may log in');
  const load = () => import('./user.ts');
  const on = <F>(flags: F) => ({ flags, around, root });
  refuseUnknown(user, withTarget(user.command('list', { isDefault: true })))
    .description('list the users (the default command)')
    .option('--json', 'print JSON')
    .action(async (flags: TargetFlags & { json?: boolean }) => (await load()).listUsers(on(flags)));
  withTarget(user.command('add'))
    .description('add a user; asks for the password, or reads it from stdin')
    .argument('<username>', '1 to 64 letters, digits or . _ -')
    .option('--name <name>', 'name to show (default: the username)')
    .option('--role <role...>', 'roles by name (default: builtin-viewer, who may only look)')
    .action(async (username: string, flags: AddFlags) => (await load()).addUser(username, on(flags)));
  withTarget(user.command('passwd'))
    .description('set the password of a user and end the user’s logins')
    .argument('<user>', 'username or id')
    .action(async (which: string, flags: TargetFlags) => (await load()).setPassword(which, on(flags)));
  withTarget(user.command('role'))
    .description('show the roles of a user, or give one')
    .argument('<user>', 'username or id')
    .argument('[role]', 'name of the role, such as builtin-admin, builtin-operator or builtin-viewer')
    .option('--remove', 'take the role away')
    .action(async (which: string, role: string | undefined, flags: RoleFlags) =>
      (await load()).userRole(which, role, on(flags)),
    );
  withTarget(user.command('identity'))
    .description('show who at the provider logs in as a user, or connect a person of the provider')
    .argument('<user>', 'username or id')
    .argument('[subject]', 'how the provider names the person: the claim "sub"')
    .option('--issuer <url>', 'issuer of the provider (default: the configured one)')
    .option('--remove', 'end that: the person no longer logs in as the user')
    .action(async (which: string, subject: string | undefined, flags: IdentityFlags) =>
      (await load()).userIdentity(which, subject, on(flags)),
    );
  withTarget(user.command('disable'))
    .description('end all logins and tokens of a user until it is enabled again')
    .argument('<user>', 'username or id')
    .action(async (which: string, flags: TargetFlags) => (await load()).setDisabled(which, true, on(flags)));
  withTarget(user.command('enable'))
    .description('let a disabled user log in again')
    .argument('<user>', 'username or id')
    .action(async (which: string, flags: TargetFlags) => (await load()).setDisabled(which, false, on(flags)));
  withTarget(user.command('delete'))
    .description('delete a user, with all logins and tokens')
    .argument('<user>', 'username or id')
    .action(async (which: string, flags: TargetFlags) => (await load()).removeUser(which, on(flags)));
}

function addAudit(program: Command, { root, around, withTarget }: AccountCommandsDeps): void {
  const audit = program.command('audit').description('show and verify the record of who did what');
  const load = () => import('./audit.ts');
  refuseUnknown(audit, withTarget(audit.command('list', { isDefault: true })))
    .description('list recorded actions, newest first (the default command)')
    .option('--action <action>', 'only this action, such as user.create')
    .option('--user <id>', 'only this user or principal')
    .option('--limit <n>', 'how many, at most 200', '50')
    .option('--json', 'print one JSON object')
    .action(async (flags: AuditFlags) => (await load()).listAudit({ flags, around, root }));
  withTarget(audit.command('verify'))
    .description('check that no record was changed or removed; exits with 1 if one was')
    .action(async (flags: TargetFlags) => (await load()).verifyAudit({ flags, around, root }));
}
