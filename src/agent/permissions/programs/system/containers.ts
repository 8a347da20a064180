import { addEffect, addUnknown, type ProgramCall, type ProgramRule } from '../program.ts';
import { toRules } from '../rows.ts';
import { addNetwork } from '../targets.ts';

const OPTIONS_WITH_VALUE =
  /^(-H|--host|--context|-c|--config|-n|--namespace|--kubeconfig|--cluster|--user|-s|--server|-l|--log-level|-f|--file|-p|--project-name)$/;

/** The command of a program that has options before it. */
function findCommand({ args }: ProgramCall): string | undefined {
  for (let index = 0; index < args.length; index += 1) {
    const { value, start } = args[index] ?? { value: undefined, start: '' };
    if (value === undefined) return undefined;
    if (OPTIONS_WITH_VALUE.test(value)) index += 1;
    else if (!start.startsWith('-')) return value;
  }
  return '';
}

/** The daemon of containers acts with all rights, outside the sandbox. */
const docker: ProgramRule = (call) => {
  const command = findCommand(call);
  if (command === '') return;
  addNetwork(call);
  if (
    command !== undefined &&
    /^(ps|images|inspect|logs|version|info|stats|top|port|diff|history|search|events)$/.test(command)
  )
    return;
  addEffect(call, 'system', call.name);
  addEffect(call, 'privilege', call.name);
  addUnknown(call);
};

/** Changes, or runs commands in, a cluster elsewhere. */
const cluster: ProgramRule = (call) => {
  const command = findCommand(call);
  if (command === '') return;
  addNetwork(call);
  const shows =
    /^(get|describe|logs|version|top|explain|api-resources|api-versions|cluster-info|list|status|show|search)$/;
  // Settings may name programs for the login, and other files.
  const isPlain = !call.args.some(({ start }) =>
    /^--(kubeconfig|server|token|output|template)|^-o=?(go|json)path-file/.test(start),
  );
  if (command !== undefined && shows.test(command) && isPlain) return;
  addEffect(call, 'system', call.name);
  addUnknown(call);
};

/** Rules of programs that control containers and clusters. */
export const CONTAINERS = toRules({
  'docker podman nerdctl docker-compose buildah': docker,
  'kubectl helm oc': cluster,
});
