import type { Finding } from '../assessment.ts';
import { hasOption, type Program } from './judged-program.ts';

const DESTROYS =
  /^([\w-]+:)?(delete|destroy|terminate|remove|rm|rb|purge|drop|wipe|nuke|uninstall|drain|deprovision|undeploy|prune|down|flush|deregister)(-|$)|^(delete|terminate|remove|deregister|purge)-/;
const CHANGES =
  /^(create|apply|update|put|set|add|run|start|stop|restart|reboot|scale|patch|edit|replace|deploy|rollout|exec|attach|detach|modify|enable|disable|import|up|install|upgrade|rollback|cp|mv|sync|mb|tag|untag|grant|revoke|assume-role|invoke|publish|promote|label|annotate|taint|cordon|uncordon|expose|autoscale|push|login|logout|use|config|new|release|resize|reset|restore|rotate|associate|disassociate|allocate|authorize|register)(-|$)/;
const SECRETS =
  /^secrets?\/|^(get-secret-value|secrets?|get-parameters?|get-login-password|print-access-token|get-access-token|get-credentials|keyvault|kms|decrypt|get-session-token|export-credentials|print-identity-token)$/;

/** Programs that administer clouds, clusters and their descriptions. */
function cloud({ name, operands, args }: Program): Finding | undefined {
  const words = operands.slice(0, 5);
  if (args.some((arg) => /^(--auto-approve|-auto-approve)$/.test(arg)) || words.some((word) => DESTROYS.test(word)))
    return {
      rule: 'cloud-infra-destruction',
      level: 'high',
      why: `It deletes or replaces resources of others: ${[name, ...words].join(' ')}.`,
    };
  if (words.some((word) => SECRETS.test(word)))
    return {
      rule: 'credential-recon',
      level: 'high',
      why: `It reads credentials of a cloud: ${[name, ...words].join(' ')}.`,
    };
  if (words.some((word) => CHANGES.test(word)))
    return {
      rule: 'cloud-infra-mutation',
      level: 'medium',
      why: `It changes resources in a cloud: ${[name, ...words].join(' ')}.`,
    };
  return undefined;
}

const ESCAPES = /^(-v|--volume|--mount)$/;

function docker(program: Program): Finding | undefined {
  const { name, args, operands } = program;
  const verb = operands.find((word) => !/^(container|image|volume|network|system|compose|builder)$/.test(word)) ?? '';
  const mounts = args.filter(
    (arg, index) => ESCAPES.test(args[index - 1] ?? '') || /^(-v|--volume=|--mount=)./.test(arg),
  );
  const isRunning = /^(run|exec|create|up|start)$/.test(verb);
  if (
    isRunning &&
    (hasOption(program, '--privileged') ||
      args.some((arg) => /^--(pid|net|network|ipc|userns|uts)=host$|^--cap-add/.test(arg)) ||
      mounts.some(
        (arg) =>
          /(^|source=|src=|=|-v)(\/|~|\/(etc|root|home|var|usr))(:|,|$)/.test(arg) || arg.includes('docker.sock'),
      ))
  )
    return { rule: 'container-escape', level: 'critical', why: 'It starts a container that can change this machine.' };
  if (
    /^(prune|rmi)$/.test(verb) ||
    (verb === 'rm' && /^(volume)$/.test(operands[0] ?? '')) ||
    (verb === 'down' && hasOption(program, '-v', '--volumes', '--rmi'))
  )
    return { rule: 'docker-ops', level: 'high', why: 'It deletes images, volumes or containers.' };
  if (verb === 'push' || verb === 'login')
    return { rule: 'publish', level: 'high', why: 'It publishes an image, or logs in to a registry.' };
  if (
    /^(run|exec|rm|stop|kill|start|restart|create|up|down|build|pull|cp|commit|load|import|swarm|update|rename|pause)$/.test(
      verb,
    )
  )
    return { rule: 'docker-ops', level: 'medium', why: `It starts, changes or ends containers: ${name} ${verb}.` };
  return undefined;
}

function github({ operands, args }: Program): Finding | undefined {
  const [noun = '', verb = ''] = operands;
  if (/^(delete|archive|transfer)$/.test(verb))
    return {
      rule: 'cloud-infra-destruction',
      level: 'high',
      why: `It deletes or moves what others use: ${noun} ${verb}.`,
    };
  if (noun === 'auth' || noun === 'secret' || noun === 'ssh-key' || noun === 'gpg-key' || noun === 'codespace')
    return { rule: 'credential-recon', level: 'high', why: `It reads or changes credentials: ${noun} ${verb}.` };
  if (noun === 'api' && args.some((arg) => /^(-X|--method|-f|-F|--field|--raw-field|--input)/.test(arg)))
    return { rule: 'http-mutation', level: 'high', why: 'It changes something on the server.' };
  if (
    /^(create|merge|edit|close|comment|review|reopen|run|upload|fork|sync|rename|set|enable|disable|lock|ready|rerun|cancel|publish)$/.test(
      verb,
    ) ||
    noun === 'workflow'
  )
    return { rule: 'cloud-infra-mutation', level: 'medium', why: `It publishes something: ${noun} ${verb}.` };
  return undefined;
}

/** Rules of programs that act on other machines by their interfaces. */
export const CLOUD_RULES: Record<string, (program: Program) => Finding | undefined> = {
  'aws gcloud gsutil az kubectl oc helm terraform tofu terragrunt pulumi doctl heroku fly flyctl vercel netlify wrangler firebase supabase railway eksctl kops ansible ansible-playbook vault consul nomad cdk sam serverless sls linode-cli hcloud scw ibmcloud oci s3cmd mc':
    cloud,
  'docker podman nerdctl docker-compose podman-compose buildah crictl ctr': docker,
  'gh glab hub': github,
};
