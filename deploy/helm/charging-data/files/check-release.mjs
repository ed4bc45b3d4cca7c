// "helm test": the service answers inside the cluster, is ready, and has the public address that the values say.
const { SERVICE_URL, BASE_URL } = process.env;

async function ask(path) {
  const answer = await fetch(SERVICE_URL + path, { signal: AbortSignal.timeout(10_000) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
  return JSON.parse(text);
}

try {
  await ask('/health/ready');
  const { issuer } = await ask('/.well-known/oauth-authorization-server');
  if (issuer !== BASE_URL) throw new Error(`The issuer is ${issuer}, and settings.BASE_URL is ${BASE_URL}.`);
  process.stdout.write(`${SERVICE_URL} is ready, as ${issuer}.\n`);
} catch (error) {
  process.stderr.write(`${SERVICE_URL}: ${error.message}${error.cause ? ` (${error.cause.message})` : ''}\n`);
  process.exitCode = 1;
}
