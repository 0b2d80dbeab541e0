//! A real S3 server over a folder, where one was installed: versitygw. And boto3, to look into it with a
//! client that is not ours.

use crate::lab::Lab;
use crate::penstock::root;
use crate::ports::free_port;
use crate::process::Process;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Why there is none; the test is skipped with it.
pub const MISSING: &str = "no S3 server, see `./x servers s3`";

pub const ACCESS: &str = "access";
pub const SECRET: &str = "secret";
pub const BUCKET: &str = "logs";

/// A server that keeps its objects over a kill.
pub struct S3 {
    dir: PathBuf,
    port: u16,
    /// Files with a certificate and its key, for connections with TLS.
    certificate: Option<(PathBuf, PathBuf)>,
    process: Option<Process>,
}

fn installed() -> PathBuf {
    root().join("target/servers/s3")
}

impl S3 {
    /// Starts a server in a folder of the lab, with a bucket.
    #[track_caller]
    pub fn start(lab: &Lab) -> Option<S3> {
        S3::with(lab, None)
    }

    /// The same with TLS: files with a certificate and its key.
    #[track_caller]
    pub fn secured(lab: &Lab, certificate: PathBuf, key: PathBuf) -> Option<S3> {
        S3::with(lab, Some((certificate, key)))
    }

    #[track_caller]
    fn with(lab: &Lab, certificate: Option<(PathBuf, PathBuf)>) -> Option<S3> {
        installed().join("complete").exists().then_some(())?;
        let dir = lab.path("s3");
        std::fs::create_dir_all(dir.join("objects").join(BUCKET)).expect("a folder");
        let mut server = S3 { dir, port: free_port(), certificate, process: None };
        server.run();
        Some(server)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Starts it again, after [`S3::kill`].
    #[track_caller]
    pub fn run(&mut self) {
        let mut command = Command::new(installed().join("bin/versitygw"));
        command.args(["--access", ACCESS, "--secret", SECRET, "--port", &format!("127.0.0.1:{}", self.port)]);
        if let Some((certificate, key)) = &self.certificate {
            command.arg("--cert").arg(certificate).arg("--key").arg(key);
        }
        command.arg("posix");
        command.arg(self.dir.join("objects"));
        let process = self.process.insert(Process::spawn("versitygw", command, None, &self.dir.join("log")));
        let port = self.port;
        process.wait_for(|| {
            TcpStream::connect(("127.0.0.1", port)).err().map(|error| format!("S3 to listen: {error}"))
        });
    }

    /// Ends it without a word.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.signal(rustix::process::Signal::KILL);
            process.wait_end();
        }
    }

    /// What a script of Python prints, with `s3` the client of boto3.
    #[track_caller]
    fn python(&self, script: &str) -> Vec<u8> {
        let scheme = if self.certificate.is_some() { "https" } else { "http" };
        let begin = format!(
            "import boto3, sys, gzip\nfrom botocore.config import Config\n\
             s3 = boto3.client('s3', endpoint_url='{scheme}://127.0.0.1:{}', region_name='us-east-1', verify=False, \
             aws_access_key_id='{ACCESS}', aws_secret_access_key='{SECRET}', config=Config(s3={{'addressing_style': 'path'}}))\n",
            self.port
        );
        let output =
            Command::new(installed().join("python/bin/python")).arg("-c").arg(begin + script).output();
        let output = output.expect("python");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    /// The names of all objects, in their order.
    #[track_caller]
    pub fn names(&self) -> Vec<String> {
        let script = "for page in s3.get_paginator('list_objects_v2').paginate(Bucket='logs'):\n    \
                      for object in page.get('Contents', []): print(object['Key'])\n";
        String::from_utf8_lossy(&self.python(script)).lines().map(str::to_owned).collect()
    }

    /// The lines of all objects whose names begin so, in the order of the names; those that end in `.gz` are
    /// unpacked.
    #[track_caller]
    pub fn lines(&self, prefix: &str) -> Vec<String> {
        let script = format!(
            "for page in s3.get_paginator('list_objects_v2').paginate(Bucket='logs', Prefix='{prefix}'):\n    \
             for object in page.get('Contents', []):\n        \
             body = s3.get_object(Bucket='logs', Key=object['Key'])['Body'].read()\n        \
             sys.stdout.buffer.write(gzip.decompress(body) if object['Key'].endswith('.gz') else body)\n"
        );
        String::from_utf8_lossy(&self.python(&script)).lines().map(str::to_owned).collect()
    }

    /// Puts objects into the bucket, one after the other.
    #[track_caller]
    pub fn put(&self, objects: &[(&str, &[u8])]) {
        self.python(&putting(&self.dir, objects));
    }

    /// Puts so many objects, named by a pattern of Python of their number, each with so many lines that say
    /// `value N`, counted through.
    #[track_caller]
    pub fn put_many(&self, pattern: &str, count: usize, lines: usize) {
        self.python(&format!(
            "from concurrent.futures import ThreadPoolExecutor\n\
             def put(n):\n    \
             body = ''.join('value %d\\n' % v for v in range(n * {lines}, (n + 1) * {lines}))\n    \
             s3.put_object(Bucket='logs', Key='{pattern}' % n, Body=body.encode())\n\
             list(ThreadPoolExecutor(8).map(put, range({count})))\n"
        ));
    }

    #[track_caller]
    pub fn delete(&self, name: &str) {
        self.python(&format!("s3.delete_object(Bucket='logs', Key={name:?})"));
    }

    /// The type of an object, and its tag: that of one in several parts says how many.
    #[track_caller]
    pub fn head(&self, name: &str) -> (String, String) {
        let script =
            format!("h = s3.head_object(Bucket='logs', Key='{name}')\nprint(h['ContentType'], h['ETag'])");
        let said = String::from_utf8_lossy(&self.python(&script)).trim().to_owned();
        let (kind, tag) = said.split_once(' ').expect("two words");
        (kind.to_owned(), tag.trim_matches('"').to_owned())
    }

    /// Begins an upload in parts that nobody ends.
    #[track_caller]
    pub fn begin_upload(&self, name: &str) {
        self.python(&format!("s3.create_multipart_upload(Bucket='logs', Key='{name}')"));
    }

    /// Uploads that were begun and not ended.
    #[track_caller]
    pub fn uploads(&self) -> usize {
        let script = "print(len(s3.list_multipart_uploads(Bucket='logs').get('Uploads', [])))";
        String::from_utf8_lossy(&self.python(script)).trim().parse().expect("a number")
    }
}

/// The lines of Python that put objects into the bucket, one after the other, from files in a folder.
pub(crate) fn putting(folder: &Path, objects: &[(&str, &[u8])]) -> String {
    let mut script = String::new();
    for (n, (name, body)) in objects.iter().enumerate() {
        let file = folder.join(format!("put-{n}"));
        std::fs::write(&file, body).expect("written");
        script.push_str(&format!(
            "s3.put_object(Bucket='logs', Key={name:?}, Body=open({file:?}, 'rb').read())\n"
        ));
    }
    script
}
