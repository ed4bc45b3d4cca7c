/*
 * Logs in with a passkey, and adds one to the account. Only a script can use passkeys, so what it enhances is hidden without it.
 */

const toBase64Url = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
const fromBase64Url = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));
const withBytes = (credential) => ({ ...credential, id: fromBase64Url(credential.id) });

/** The options as the browser needs them; older browsers cannot read them from JSON. */
function creationOptions(json) {
  if (PublicKeyCredential.parseCreationOptionsFromJSON) {
    return PublicKeyCredential.parseCreationOptionsFromJSON(json);
  }
  return {
    ...json,
    challenge: fromBase64Url(json.challenge),
    user: withBytes(json.user),
    excludeCredentials: json.excludeCredentials.map(withBytes),
  };
}

function requestOptions(json) {
  if (PublicKeyCredential.parseRequestOptionsFromJSON) {
    return PublicKeyCredential.parseRequestOptionsFromJSON(json);
  }
  return { ...json, challenge: fromBase64Url(json.challenge) };
}

/** The passkey's answer as JSON; older browsers, and some extensions, cannot write it. */
function toJson(credential) {
  try {
    return credential.toJSON();
  } catch {
    const { id, type, response } = credential;
    const members = {};
    for (const name of [
      'clientDataJSON',
      'attestationObject',
      'authenticatorData',
      'signature',
      'userHandle',
    ]) {
      if (response[name]) members[name] = toBase64Url(response[name]);
    }
    const transports = response.getTransports?.();
    return { id, rawId: id, type, clientExtensionResults: {}, response: { ...members, transports } };
  }
}

/** What went wrong, in words for the person at the browser. */
function messageOf(error) {
  if (error.name === 'NotAllowedError' || error.name === 'AbortError') {
    return 'No passkey was used: the request was cancelled, or it took too long. Try again.';
  }
  if (error.name === 'InvalidStateError') return 'This device already has a passkey for your account.';
  if (error.name === 'SecurityError') return 'Passkeys do not work at this address.';
  return error.message;
}

async function post(path, body) {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.detail);
  return answer;
}

/** Runs the work of a button; says what went wrong in the alert beside it. */
function onClick(button, alert, work) {
  button.addEventListener('click', async (event) => {
    event.preventDefault();
    button.disabled = true;
    alert.hidden = true;
    try {
      await work();
    } catch (error) {
      alert.textContent = messageOf(error);
      alert.hidden = false;
    }
    button.disabled = false;
  });
}

async function logIn(returnTo) {
  const publicKey = requestOptions(await post('/login/passkey/options', {}));
  const credential = await navigator.credentials.get({ publicKey });
  const { location: to } = await post('/login/passkey', {
    return_to: returnTo,
    response: toJson(credential),
  });
  location.assign(to);
}

async function addPasskey(form) {
  if (!form.reportValidity()) return;
  const publicKey = creationOptions(JSON.parse(form.dataset.passkeyCreation));
  const credential = await navigator.credentials.create({ publicKey });
  form.elements.response.value = JSON.stringify(toJson(credential));
  form.submit();
}

/** Makes a passkey for the account that the form creates, and sends it in place of a password. */
async function signUp(form, path) {
  const { name, response } = form.elements;
  if (!name.reportValidity()) return;
  const options = await post(path, {});
  options.user.displayName = name.value;
  const credential = await navigator.credentials.create({ publicKey: creationOptions(options) });
  for (const field of form.querySelectorAll('[type=password]')) field.value = '';
  response.value = JSON.stringify(toJson(credential));
  form.submit();
}

async function showSection(section) {
  section.hidden = false;
  section.open = await PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable();
}

if (window.PublicKeyCredential) {
  for (const notice of document.querySelectorAll('[data-without-passkeys]')) notice.hidden = true;
  for (const element of document.querySelectorAll('[data-passkey-sign-in]')) {
    element.hidden = false;
    const [alert, button] = [element.querySelector('[role=alert]'), element.querySelector('button')];
    onClick(button, alert, () => logIn(element.dataset.returnTo));
  }
  document.querySelectorAll('[data-passkey-section]').forEach(showSection);
  for (const element of document.querySelectorAll('[data-passkey-sign-up]')) {
    element.hidden = false;
    const [alert, button] = [element.querySelector('[role=alert]'), element.querySelector('button')];
    onClick(button, alert, () => signUp(button.form, element.dataset.passkeySignUp));
    // After the browser's back button, a password is sent without the passkey of before.
    button.form.addEventListener('submit', () => (button.form.elements.response.value = ''));
  }
  for (const form of document.querySelectorAll('form[data-passkey-creation]')) {
    form.hidden = false;
    const [alert, button] = [form.querySelector('[role=alert]'), form.querySelector('button')];
    onClick(button, alert, () => addPasskey(form));
  }
}
