"""Signature checks of this product against the providers' own libraries, on fresh random deliveries.

Each scheme gets as many cases as asked for, about half of them damaged in one of many ways. The library's
word counts: a case on which the two differ fails the run and is printed with its seed.
"""

import base64
import datetime
import hashlib
import hmac
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import warnings

warnings.filterwarnings("ignore")

import jwt
import standardwebhooks
import stripe
import svix
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.x509.oid import NameOID, ObjectIdentifier

replay, count = sys.argv[1], int(sys.argv[2])
seed = int(os.environ.get("CROSSCHECK_SEED") or random.SystemRandom().randrange(2**32))
chance = random.Random(seed)
print(f"crosscheck: seed={seed}, {count} cases a scheme")

TEXTS = ["", "a", "é", "\u2028", "😀", "\\", '"', "\n", "user-1042", "x" * 300, "\u0000"]
now = int(time.time())


def iso(seconds):
    stamp = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return stamp.strftime("%Y-%m-%dT%H:%M:%SZ")


def random_body():
    def value(depth):
        kind = chance.randrange(7 if depth else 4)
        if kind == 0:
            return chance.choice(TEXTS)
        if kind == 1:
            return chance.choice([0, -1, 7.25, 10**18, 1e300])
        if kind == 2:
            return chance.choice([True, False, None])
        if kind == 3:
            return "".join(chr(chance.randrange(32, 0x2FF)) for _ in range(chance.randrange(20)))
        if kind == 4:
            return [value(depth - 1) for _ in range(chance.randrange(4))]
        return {f"k{n}": value(depth - 1) for n in range(chance.randrange(5))}

    document = {"id": f"evt_{chance.randrange(10**9)}", "data": value(3)}
    text = json.dumps(document, ensure_ascii=chance.random() < 0.5)
    return text if chance.random() < 0.8 else "  " + text + "\n"


def damaged(text):
    """The text with one character changed, added or taken away."""
    if not text:
        return "x"
    place = chance.randrange(len(text))
    change = chance.randrange(3)
    if change == 0:
        return text[:place] + text[place + 1 :]
    other = chance.choice("abcdefABCDEF0123456789+/=.,_- ")
    return text[:place] + other + text[place + (change == 1) :]


def forged(text):
    """The text with one letter or digit changed for another one.

    Nothing is added or taken away, and the last characters stay: Python's decoders pass over foreign
    characters and stray bits, which this product refuses by its own decision.
    """
    places = [n for n in range(len(text) - 4) if text[n].isalnum()]
    place = chance.choice(places)
    others = [c for c in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789" if c != text[place]]
    return text[:place] + chance.choice(others) + text[place + 1 :]


def run(name, cases, config=None):
    """Puts all cases to journey-replay; each is (line, the library's word)."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "batch.jsonl")
        with open(path, "w", encoding="utf-8", errors="surrogatepass") as file:
            for number, (line, _) in enumerate(cases):
                file.write(json.dumps(dict(line, id=number, at=iso(now))) + "\n")
        words = [replay, "try", "connector", name, "--batch", path]
        if config:
            place = os.path.join(folder, "config.json")
            for file, content in config.get("files", {}).items():
                with open(os.path.join(folder, file), "wb") as out:
                    out.write(content)
            with open(place, "w") as out:
                json.dump(config["json"], out)
            words[1:1] = ["--config", place]
        environment = dict(os.environ, DATABASE_URL="unused")
        done = subprocess.run(words, capture_output=True, text=True, env=environment)
        if done.returncode != 0:
            sys.exit(f"crosscheck: journey-replay failed: {done.stderr}")
        answers = [json.loads(line) for line in done.stdout.split("\n") if line]
    if len(answers) != len(cases):
        sys.exit(f"crosscheck: {len(cases)} cases gave {len(answers)} answers")
    return answers


failures = 0


def compare(title, name, cases, config=None):
    global failures
    accepted = 0
    for answer, (line, wanted) in zip(run(name, cases, config), cases):
        accepted += wanted
        if bool(answer["authenticated"]) != wanted:
            failures += 1
            if failures <= 10:
                word = "accepts" if wanted else "refuses"
                print(f"crosscheck: {title}: the library {word}, this product says {answer}")
                print(f"    {json.dumps(line)[:1500]}")
    print(f"crosscheck: {title}: {len(cases)} cases, {accepted} accepted, {len(cases) - accepted} refused")


def offsets(only_past=False):
    """Ages of a signature in seconds, never so near the edge that the run's own time matters."""
    good = [0, 0, 0, 1, 30, 200, 280]
    bad = [330, 3600, 10**6]
    if not only_past:
        good += [-30, -280]
        bad += [-330, -3600]
    return chance.choice(good if chance.random() < 0.8 else bad)


def standard_webhooks(prefix, library):
    cases = []
    for _ in range(count):
        body = random_body()
        key = chance.randbytes(chance.randrange(24, 65))
        secret = "whsec_" + base64.b64encode(key).decode()
        message, stamp = f"msg_{chance.randrange(10**12)}", now - offsets()
        signer = library.Webhook(secret)
        moment = datetime.datetime.fromtimestamp(stamp, datetime.timezone.utc)
        right = signature = signer.sign(message, moment, body)
        if chance.random() < 0.3:
            others = ["v1,AAAA", "v1a,AAAA", "v2,xyz", "v3,nonsense", "v1," + base64.b64encode(b"x" * 32).decode()]
            parts = chance.sample(others, chance.randrange(1, 4)) + [signature]
            chance.shuffle(parts)
            signature = " ".join(parts)
        headers = {prefix + "id": message, prefix + "timestamp": str(stamp), prefix + "signature": signature}
        sent, secrets = body, [secret]
        damage = chance.randrange(12)
        if damage == 0:
            sent = damaged(body)
        elif damage == 1:
            headers[prefix + "signature"] = signature.replace(right, "v1," + forged(right[3:]))
        elif damage == 2:
            headers[prefix + "id"] = damaged(message).strip() or "x"
        elif damage == 3:
            headers[prefix + "timestamp"] = str(stamp + 1)
        elif damage == 4:
            del headers[chance.choice(list(headers))]
        elif damage == 5:
            secrets = ["whsec_" + base64.b64encode(chance.randbytes(32)).decode()]
        elif damage == 6:
            headers[prefix + "timestamp"] = chance.choice(["", "soon", "1e9", "12:00"])
        try:
            library.Webhook(secrets[0]).verify(sent.encode(), headers)
            wanted = True
        except (library.WebhookVerificationError, ValueError):
            # A ValueError comes from reading the body as JSON, after the signature held.
            wanted = False
            if isinstance(sys.exc_info()[1], json.JSONDecodeError):
                wanted = True
        line = {"body_base64": base64.b64encode(sent.encode()).decode(), "headers": headers}
        cases.append((dict(line, secrets=secrets, scheme="standard-webhooks"), wanted))
    compare(f"standard-webhooks, {prefix}* against {library.__name__}", "superwall", cases)


def stripe_scheme():
    cases = []
    for _ in range(count):
        body = random_body()
        secret = "whsec_" + "".join(chance.choice("abcdefghijklmnop0123456789") for _ in range(32))
        # The library also takes times from the future, which this product refuses by its own decision.
        stamp = now - offsets(only_past=True)
        def code(key, head):
            return hmac.new(key.encode(), f"{head}.{body}".encode(), hashlib.sha256).hexdigest()
        good = code(secret, stamp)
        parts = [f"t={stamp}", f"v1={good}"]
        if chance.random() < 0.3:
            parts.insert(chance.randrange(1, 3), f"v1={code('other', stamp)}")
        if chance.random() < 0.3:
            parts.append("v0=" + "0" * 64)
        header, sent, secrets = ",".join(parts), body, [secret]
        damage = chance.randrange(12)
        if damage == 0:
            sent = damaged(body)
        elif damage == 1:
            header = header.replace(good, forged(good))
        elif damage == 2:
            header = header.replace(f"t={stamp}", f"t={stamp + 1}")
        elif damage == 3:
            header = chance.choice(["", "t=", "v1=" + good, f"t={stamp}", "bad", f"t={stamp},v0={good}"])
        elif damage == 4:
            secrets = [secret[::-1]]
        elif damage == 5:
            header = header.replace(good, good.upper())
        try:
            stripe.WebhookSignature.verify_header(sent, header, secrets[0], 300)
            wanted = True
        except (stripe.SignatureVerificationError, ValueError):
            wanted = False
        line = {"body_base64": base64.b64encode(sent.encode()).decode(), "headers": {"Stripe-Signature": header}}
        cases.append((dict(line, secrets=secrets), wanted))
    compare("stripe against stripe", "stripe", cases)


def push_tokens():
    keys = {kid: rsa.generate_private_key(public_exponent=65537, key_size=2048) for kid in ("one", "two")}
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    audience, email = "https://hooks.example.com/v1/webhooks/play", "push@example.iam.gserviceaccount.com"
    public = []
    for kid, key in keys.items():
        public.append(dict(json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key())), kid=kid, use="sig", alg="RS256"))
    issuers = ["https://accounts.google.com", "accounts.google.com"]
    cases = []
    for _ in range(count):
        kid = chance.choice(list(keys))
        start = now - chance.randrange(0, 3000)
        claims = {"iss": chance.choice(issuers), "aud": audience, "email": email, "email_verified": True,
                  "iat": start, "exp": start + 3600, "sub": str(chance.randrange(10**20))}
        key, header, algorithm = keys[kid], {"kid": kid}, "RS256"
        damage = chance.randrange(16)
        if damage == 0:
            claims["aud"] = damaged(audience)
        elif damage == 1:
            claims["email"] = damaged(email)
        elif damage == 2:
            claims["email_verified"] = chance.choice([False, "true", None, 1 == 2])
        elif damage == 3:
            claims["iss"] = chance.choice(["https://accounts.google.co", "", "https://example.com"])
        elif damage == 4:
            claims["exp"] = now - chance.choice([120, 4000, 10**6])
        elif damage == 5:
            del claims[chance.choice(["iss", "aud", "email", "email_verified", "exp"])]
        elif damage == 6:
            key = stranger
        elif damage == 7:
            header = chance.choice([{"kid": "three"}, {}])
        elif damage == 8:
            key, algorithm = "a-shared-secret-of-thirty-two-bytes", "HS256"
        elif damage == 9:
            claims["iat"] = now + 4000
        token = jwt.encode(claims, key, algorithm, headers=header)
        if damage == 10:
            token = forged(token)
        elif damage == 11:
            parts = token.split(".")
            parts[1] = base64.urlsafe_b64encode(json.dumps(dict(claims, more=1)).encode()).rstrip(b"=").decode()
            token = ".".join(parts)
        try:
            named = jwt.get_unverified_header(token).get("kid")
            verified = jwt.decode(token, keys[named].public_key(), algorithms=["RS256"], audience=audience,
                                  issuer=issuers, leeway=60, options={"require": ["exp"]})
            wanted = verified.get("email") == email and verified.get("email_verified") is True
        except (jwt.PyJWTError, KeyError, ValueError):
            wanted = False
        cases.append(({"body": "{}", "headers": {"Authorization": "Bearer " + token}}, wanted))
    entry = {"scheme": "google-oidc", "audience": audience, "email": email, "keys": {"keys": public}}
    compare("google-oidc against PyJWT", "play", cases, configuration({"play": {"provider": "google", "authenticate": [entry]}}))


def configuration(connectors, files=None):
    return {"json": {"database": {"url": {"env": "DATABASE_URL"}}, "connectors": connectors}, "files": files or {}}


class Chain:
    """Root, intermediate and leaf, marked as Apple's are unless told otherwise."""

    def __init__(self, intermediate_mark=True, leaf_mark=True, authority=True, ends=None, root=None):
        self.root_key = root.root_key if root else ec.generate_private_key(ec.SECP256R1())
        self.root = root.root if root else self.certificate("Root", self.root_key.public_key(), "Root", self.root_key, None, True)
        middle, self.key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
        self.middle = self.certificate("Middle", middle.public_key(), "Root", self.root_key,
                                       "1.2.840.113635.100.6.2.1" if intermediate_mark else None, authority)
        self.leaf = self.certificate("Leaf", self.key.public_key(), "Middle", middle,
                                     "1.2.840.113635.100.6.11.1" if leaf_mark else None, False, ends)
        self.x5c = [self.encoded(item) for item in (self.leaf, self.middle, self.root)]

    @staticmethod
    def encoded(certificate):
        return base64.b64encode(certificate.public_bytes(serialization.Encoding.DER)).decode()

    @staticmethod
    def certificate(subject, key, issuer, issuer_key, mark, authority, ends=None):
        def name(text):
            return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
        builder = (x509.CertificateBuilder().subject_name(name(subject)).issuer_name(name(issuer)).public_key(key)
                   .serial_number(x509.random_serial_number()).not_valid_before(datetime.datetime(2024, 1, 1))
                   .not_valid_after(ends or datetime.datetime(2044, 1, 1))
                   .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
                   .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
                   .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
                   .add_extension(x509.KeyUsage(not authority, False, False, False, False, authority, authority, False, False), critical=True))
        if mark:
            builder = builder.add_extension(x509.UnrecognizedExtension(ObjectIdentifier(mark), b"\x05\x00"), critical=False)
        return builder.sign(issuer_key, hashes.SHA256())

    def sign(self, payload, x5c=None, algorithm="ES256"):
        def part(data):
            return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
        head = {"alg": algorithm, "x5c": self.x5c if x5c is None else x5c}
        text = part(json.dumps(head).encode()) + "." + part(json.dumps(payload).encode())
        r, s = decode_dss_signature(self.key.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
        return text + "." + part(r.to_bytes(32, "big") + s.to_bytes(32, "big"))


def apple():
    good = Chain()
    bad = {"another root": Chain(), "no mark on the intermediate": Chain(intermediate_mark=False, root=good),
           "no mark on the leaf": Chain(leaf_mark=False, root=good), "no authority": Chain(authority=False, root=good),
           "run out": Chain(ends=datetime.datetime(2025, 1, 1), root=good)}
    root = good.root.public_bytes(serialization.Encoding.DER)
    verifier = SignedDataVerifier([root], False, Environment.PRODUCTION, "com.example", 1234)
    cases = []
    for number in range(count):
        signed = now * 1000 - chance.randrange(10**9)
        transaction = {"transactionId": str(number), "originalTransactionId": "1", "bundleId": "com.example",
                       "productId": "pro", "environment": "Production", "signedDate": signed}
        notification = {"notificationType": "DID_RENEW", "notificationUUID": f"u-{number}", "version": "2.0", "signedDate": signed,
                        "data": {"bundleId": "com.example", "appAppleId": 1234, "environment": "Production"}}
        inner_chain, outer_chain, options = good, good, {}
        damage = chance.randrange(18)
        if damage == 0:
            transaction["bundleId"] = "com.other"
        elif damage == 1:
            transaction["environment"] = "Sandbox"
        elif damage == 2:
            notification["data"]["bundleId"] = "com.other"
        elif damage == 3:
            notification["data"]["appAppleId"] = 4321
        elif damage == 4:
            notification["data"]["environment"] = "Sandbox"
        elif damage == 5:
            inner_chain = chance.choice(list(bad.values()))
        elif damage == 6:
            outer_chain = chance.choice(list(bad.values()))
        elif damage == 7:
            options["x5c"] = chance.choice([good.x5c[:2], good.x5c + good.x5c[:1], [], good.x5c[::-1]])
        elif damage == 8:
            options["algorithm"] = chance.choice(["ES384", "HS256", "none"])
        inner = inner_chain.sign(transaction)
        if damage == 9:
            inner = forged(inner)
        notification["data"]["signedTransactionInfo"] = inner
        outer = outer_chain.sign(notification, **options)
        if damage == 10:
            outer = forged(outer)
        try:
            decoded = verifier.verify_and_decode_notification(outer)
            verifier.verify_and_decode_signed_transaction(decoded.data.signedTransactionInfo)
            wanted = True
        except (VerificationException, AttributeError, ValueError, TypeError):
            wanted = False
        cases.append(({"body": json.dumps({"signedPayload": outer}), "headers": {}}, wanted))
    entry = {"scheme": "apple-jws", "bundle_id": "com.example", "app_apple_id": 1234, "environments": ["Production"], "roots": ["root.der"]}
    compare("apple-jws against app-store-server-library", "store", cases,
            configuration({"store": {"provider": "apple", "authenticate": [entry]}}, {"root.der": root}))


# svix names its module differently; both libraries have the same two names.
import svix.webhooks
import standardwebhooks.webhooks

standard_webhooks("svix-", svix.webhooks)
standard_webhooks("webhook-", standardwebhooks.webhooks)
stripe_scheme()
push_tokens()
apple()
if failures:
    sys.exit(f"crosscheck: {failures} differences; CROSSCHECK_SEED={seed} brings them back")
print("crosscheck: no difference")
