import type { Command } from 'commander';

/**
 * For the command that a group runs when nobody names one (`isDefault`): a word that is none of the group's commands is an
 * unknown command, and not an argument too many for this one.
 */
export function refuseUnknown(group: Command, byDefault: Command): Command {
  return byDefault.allowExcessArguments().hook('preAction', () => {
    const [word] = byDefault.args;
    if (word === undefined) return;
    if (group.args[0] === byDefault.name()) group.error(`error: ${byDefault.name()} takes no argument: '${word}'`);
    const names = group.commands.map((command) => command.name()).join(', ');
    group.error(`error: unknown command '${word}' (available: ${names})`, { code: 'commander.unknownCommand' });
  });
}
